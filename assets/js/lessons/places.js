/** Where the stage stands in a lesson, and how one step leads to the next. Pure, but for `showOn`. */

/** Parts of the stage that can lie below the window's edge. */
const LOW_PARTS = { mask: '.sv-mask-place', graph: '.sv-tree-window', lens: '.sv-lens, .sv-strip', cache: '.sv-cell-kv' };
const NEAR = 8; // steps of the stage that are played, and not skipped, when an answer is told

/** The steps of a lesson: its pages, then its question. */
export function stepsOf(lesson) {
  return lesson.pages.length + 1;
}

/** The number of a lesson by its id, or by its number from 1; null where there is none. */
export function lessonIndex(lessons, wanted) {
  const byId = lessons.findIndex(({ id }) => id === String(wanted));
  const number = Number(wanted) - 1;
  return byId >= 0 ? byId : Number.isInteger(number) && lessons[number] ? number : null;
}

/** The place one step on (1) or back (-1): [lesson, step]; at either end it stays. */
export function neighbourPlace(lessons, [lesson, step], direction) {
  const next = step + direction;
  if (next >= 0 && next < stepsOf(lessons[lesson])) return [lesson, next];
  const other = lesson + direction;
  if (!lessons[other]) return [lesson, step];
  return [other, direction > 0 ? 0 : stepsOf(lessons[other]) - 1];
}

/** The cursor of a place, on a stage (or anything with its `cursorAt`). */
export function cursorOf(stage, { round, phase, index, part }) {
  if (phase === 'start') return stage.cursorAt(round);
  if (phase === 'end') return stage.cursorAt(round, 'end');
  return stage.cursorAt(round, phase, index ?? Infinity) - 1 + part;
}

/** How far the stage may be played: while a question is open not beyond it, but as far as the lesson's own pages go. */
export function limitOf(stage, lesson, answered) {
  if (answered) return Infinity;
  return Math.max(...[lesson.ask, ...lesson.pages].map((place) => cursorOf(stage, place)));
}

/**
 * Takes the stage to a place.
 * @param {boolean} played   it runs there, if that is near
 * @param {boolean} beside   the text stands beside the stage, so that scrolling does not lose it
 */
export function showOn(stage, place, until, { played, beside }) {
  stage.set({ until });
  stage.host.dataset.focus = place.focus;
  if (played) stage.playTo(cursorOf(stage, place), NEAR);
  else stage.seek(cursorOf(stage, place));
  const pin = stage.host.classList.contains('sv-narrow') ? null : place.pin; // on a phone it would cover the board
  if (stage.selection.position !== pin) stage.select(pin);
  const part = beside && LOW_PARTS[place.focus] && stage.host.querySelector(LOW_PARTS[place.focus]);
  if (part) part.scrollIntoView({ block: 'nearest' });
}
