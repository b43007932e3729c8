/** How texts and numbers of the lessons are shown. */

/** Text of our own assets as elements: lessons and glossary come as HTML that Python has made from them. */
export function parsed(tag, className, html) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.innerHTML = html;
  return node;
}

/** A share as a whole per cent. */
export function percent(part, whole) {
  return Math.round((100 * part) / whole) + ' %';
}
