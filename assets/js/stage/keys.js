/** What each key does. */
import { neighbourRound } from './timeline.js';

/** The list of keys: caps (a name that is a string key is translated) and the string that explains them. */
export const KEY_HELP = [
  [['←', '→'], 'help_step'],
  [['key_shift', '←', '→'], 'help_round'],
  [['key_space'], 'help_play'],
  [['Home', 'End'], 'help_ends'],
  [['↑', '↓'], 'help_select'],
  [['Tab', 'Enter'], 'help_pick'],
  [['Esc'], 'help_escape'],
  [['+', '−', '0'], 'help_zoom'],
  [['P'], 'help_projector'],
  [['?'], 'help_list'],
];

const PLAIN_KEYS = new Map([
  [' ', 'toggle'],
  ['Home', 'first'],
  ['End', 'last'],
  ['ArrowDown', 'selectNext'],
  ['ArrowUp', 'selectPrevious'],
  ['Escape', 'escape'],
  ['?', 'help'],
  ['+', 'zoomIn'],
  ['=', 'zoomIn'],
  ['-', 'zoomOut'],
  ['−', 'zoomOut'],
  ['0', 'zoomFit'],
  ['p', 'projector'],
  ['P', 'projector'],
]);

/** What a key press asks for, as the name of an action; null when it is not for the stage. Pure. */
export function keyAction({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) return null;
  if (key === 'ArrowRight') return shiftKey ? 'nextRound' : 'nextStep';
  if (key === 'ArrowLeft') return shiftKey ? 'previousRound' : 'previousStep';
  return PLAIN_KEYS.get(key) || null;
}

/** Whether a key belongs to what has the focus, and not to the stage. Pure. */
export function keyIsTaken(event, action) {
  const { tagName, isContentEditable } = event.target || {};
  if (event.defaultPrevented || isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(tagName)) return true;
  return action === 'toggle' && /^(BUTTON|SUMMARY|A)$/.test(tagName); // the space bar presses it
}

/** Does what a key asks for. */
export function performAction(stage, action) {
  const acts = {
    nextStep: () => stage.step(1),
    previousStep: () => stage.step(-1),
    nextRound: () => stage.seek(neighbourRound(stage.timeline, stage.cursor, 1)),
    previousRound: () => stage.seek(neighbourRound(stage.timeline, stage.cursor, -1)),
    toggle: () => stage.toggle(),
    first: () => stage.seek(0),
    last: () => stage.seek(Infinity),
    selectNext: () => stage.selectNeighbour(1),
    selectPrevious: () => stage.selectNeighbour(-1),
    zoomIn: () => stage.zoom(1),
    zoomOut: () => stage.zoom(-1),
    zoomFit: () => stage.zoom(0),
    projector: () => stage.projector(),
    help: () => stage.toggleHelp(),
    escape: () => {
      stage.toggleHelp(false);
      stage.bubble.hide();
      stage.select(null);
    },
  };
  acts[action]();
}
