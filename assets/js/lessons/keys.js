/** The keys of the course. What they leave alone goes to the stage: arrows, space, and so on. */

/** What a key press asks for, or null. Clickers send Page Up and Page Down. Pure. */
export function courseKey(event, course) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  if (course.presenting) {
    const shown = { PageDown: () => course.forward(), PageUp: () => course.move(-1), Escape: () => course.present(false) }[key];
    if (shown) return shown;
  }
  if (/^(TEXTAREA|SELECT)$/.test(target.tagName) || (target.tagName === 'INPUT' && target.type !== 'radio')) return null;
  const letters = { n: () => course.forward(), b: () => course.move(-1), f: () => course.present() };
  if (course.presenting) letters.s = () => course.toggleNotes();
  const act = letters[key.toLowerCase()];
  if (act) return act;
  const open = course.asking && !course.answered && course.sheet.question;
  if (open && /^[1-9]$/.test(key)) return () => open.choose(Number(key) - 1);
  if (open && key === 'Enter' && !/^(BUTTON|SUMMARY|A|INPUT)$/.test(target.tagName)) return () => open.tell();
  return null;
}
