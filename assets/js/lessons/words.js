/** The texts around the lessons, the content of learn.json. */

/** A text with `{name}` filled in. */
export function worded(strings, key, values = {}) {
  return strings[key].replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}

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
