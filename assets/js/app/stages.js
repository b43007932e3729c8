/**
 * The stages of the page, by name. A stage's trace, cursor and status are kept here, so that it comes back as it was
 * when Gradio mounts its component anew.
 *
 * Messages come from specviz/ui/message.py, which says what they hold.
 *
 * @typedef {object} Kept
 * @property {object|null} trace      the trace on show, growing with every message
 * @property {number|null} run        which run it is
 * @property {object|null} status
 * @property {number} cursor
 * @property {{round: number, phase: string, index: number, told: boolean, playing: boolean}} view
 * @property {number|null} position   the pinned one
 * @property {number[]|null} branch   a selected node of an edited tree that was not drafted yet
 * @property {string} preview         the edited tree that was last shown, as JSON
 * @property {number|null} edited     the run on show when the visitor last turned to the tree's editor
 * @property {number|null} told       the run whose round the host app was last told of
 * @property {string|null} read       id of the last message that was read
 * @property {number} heard           when the last message came, ms
 * @property {number} asked           when the whole trace was last asked for, ms
 * @property {HTMLElement} [host]     where it is mounted
 * @property {object|null} stage      what Specviz.mount returned, while mounted
 */
import { currentLanguage, stageStrings, text } from './language.js';
import { markSelected } from './panels.js';
import { interruptedRun, keepInterrupted, lost } from './silence.js';

export const MAIN = 'main'; // the stage that the panels below speak of
const LISTEN_EVERY = 1000; // ms
const ASK_AGAIN = 1000; // ms; an answer takes some time, and other messages come meanwhile

/** @type {Map<string, Kept>} */
const kept = new Map();

function keptOf(name) {
  if (!kept.has(name)) {
    const view = { round: -1, phase: 'waiting', index: 0, told: false, playing: false };
    kept.set(name, { trace: null, run: null, status: null, cursor: 0, view, position: null, branch: null, preview: '', edited: null, told: null, read: null, heard: 0, asked: 0, stage: null });
  }
  return kept.get(name);
}

/** Called by Gradio each time the component is mounted. */
export function attach({ element, props, trigger, watch }, name) {
  const own = keptOf(name);
  const lang = currentLanguage();
  if (own.stage) own.stage.destroy();
  own.host = element.querySelector('.sv-host');
  own.stage = globalThis.Specviz.mount(own.host, {
    trace: own.trace,
    lang,
    strings: stageStrings(lang),
    cursor: own.cursor,
    status: worded(own.status),
    onchange: (cursor, view) => {
      const turned = view.round !== own.view.round || own.run !== own.told;
      if (view.playing && !own.view.playing) pauseOthers(own);
      own.cursor = cursor;
      own.view = view;
      own.told = own.run;
      if (name === MAIN) markBoard(own);
      if (turned) trigger('cursor', { round: view.round });
    },
    onselect: (place) => {
      own.position = place ? place.position : null;
      own.branch = place ? place.branch : null;
      if (name === MAIN) markBoard(own);
      if (name === MAIN) markSelected(own.position);
      trigger('select', place || {});
    },
  });
  const read = () => receive(own, props.value, () => trigger('resync'));
  read();
  watch('value', read);
}

/**
 * What the panels below may show of the round on the board, as attributes of the body: they come with the whole round,
 * and the style sheet hides how it ends until the stage has told it.
 */
function markBoard({ view, position }) {
  Object.assign(document.body.dataset, { svTold: view.told ? 'yes' : 'no', svPinned: position === null ? 'no' : 'yes' });
}

/** Two moving pictures are one too many. */
function pauseOthers(own) {
  for (const other of kept.values()) if (other !== own && other.stage && other.view.playing) other.stage.pause();
}

/** Nothing moves on a stage that nobody looks at. */
export function pauseStage(name) {
  const { stage, view } = keptOf(name);
  if (stage && view.playing) stage.pause();
}

/** The visitor has asked for a run: the page follows what the stage tells of it. */
export function attendTo(name) {
  const { stage } = keptOf(name);
  if (stage) stage.attend();
}

/** Reads a message, which comes as JSON text, once. Exported for tests. */
export function receive(own, json, ask) {
  const message = json && JSON.parse(json);
  if (!message || message.id === own.read) return;
  own.read = message.id;
  own.heard = Date.now();
  if ('trace' in message) showTrace(own, message);
  if (message.append) grow(own, message.append, ask);
  if (message.status && message.status.kind === 'error' && own.host) own.host.scrollIntoView({ block: 'nearest' });
  if ('status' in message && JSON.stringify(message.status) !== JSON.stringify(own.status)) {
    own.status = message.status;
    own.stage.set({ status: worded(own.status) });
  }
  if (message.at != null) {
    own.stage.seek(own.stage.cursorAt(message.at));
    own.stage.play();
  }
}

/** Says so on a stage that waits for news in vain. Exported for tests. */
export function listen(own, now) {
  const status = lost(own, now);
  if (!status || !own.stage) return;
  own.status = status;
  own.stage.set({ status: worded(status) });
}

/** Looks after the connection from now on; a run that the page's end interrupts is kept for its next beginning. */
export function followConnection() {
  setInterval(() => {
    for (const own of kept.values()) listen(own, Date.now());
  }, LISTEN_EVERY);
  globalThis.addEventListener('pagehide', () => keepInterrupted(interruptedRun(keptOf(MAIN))));
}

/** A status with its sentence in the visitor's language. */
function worded(status) {
  if (!status || !status.key) return status;
  const title = status.title ? text(status.title) : status.kind === 'error' ? text('ui.failed') : undefined;
  return { ...status, title, text: text(status.key, status.values) };
}

function showTrace(own, { trace, run, play, keep }) {
  const cursor = keep ? own.cursor : 0;
  const playing = keep && own.view.playing;
  own.trace = trace;
  own.run = run;
  own.position = null;
  own.branch = null;
  own.edited = null;
  own.stage.set({ trace, cursor });
  if (trace && (playing || play !== false)) own.stage.play();
}

function grow(own, { run, at, ...more }, ask) {
  if (!own.trace || run !== own.run || at > own.trace.rounds.length) {
    if (Date.now() - own.asked > ASK_AGAIN) {
      own.asked = Date.now();
      ask();
    }
    return;
  }
  const fresh = more.rounds.filter((round) => round.index >= own.trace.rounds.length);
  // a new object, and the old one is never changed: the stage tells a trace from another by its identity
  own.trace = {
    ...own.trace,
    rounds: [...own.trace.rounds, ...fresh],
    vocab: { ...own.trace.vocab, ...more.vocab },
    finish: more.finish,
    baseline_ms: more.baseline_ms,
  };
  own.stage.append({ ...more, rounds: fresh });
}

/** Another language for every stage; cursor and playback stay. */
export function translateStages(lang) {
  for (const { stage, status } of kept.values()) {
    if (stage) stage.set({ lang, strings: stageStrings(lang), status: worded(status) });
  }
}

/** The number of the round on the board, counted from 1 as on the screen. */
export function roundOf(name) {
  return Math.max(1, keptOf(name).view.round + 1);
}

/** The number of the pinned position, counted from 1. */
export function positionOf(name) {
  return (keptOf(name).position || 0) + 1;
}

/** What is selected on the board: "run/round/position", see specviz/ui/place.py. */
export function placeOnBoard(name) {
  const { run, view, position, branch } = keptOf(name);
  const selected = branch ? ['', branch.join('.')] : [position === null ? '' : position];
  return run === null ? '' : [run, view.round, ...selected].join('/');
}

/** Selects a node of the round on the board of the main stage. */
export function selectNode(node) {
  const { stage, position } = keptOf(MAIN);
  if (stage && node !== position) stage.select(node);
}

/** An edited tree on the main stage. */
export function preview(json) {
  previewOn(keptOf(MAIN), json);
}

/** The visitor is at the tree's editor. */
export function editing() {
  const own = keptOf(MAIN);
  own.edited = own.run;
}

/**
 * An edited tree as JSON; '' is none. Each is shown once: who plays the run again has seen it. And only where the visitor
 * edits: while another run comes, its settings come one by one, and are for a moment not those of the run on show.
 * Exported for tests.
 */
export function previewOn(own, json) {
  const shape = json ? JSON.parse(json) : null;
  const tree = shape ? JSON.stringify(shape.choices) : '';
  if (tree === own.preview || !own.stage || (shape && (shape.run !== own.run || own.edited !== own.run))) return;
  own.preview = tree;
  own.stage.set({ preview: shape });
}

/** What is kept of a stage. */
export function peek(name) {
  const { trace, cursor, view, status, position } = keptOf(name);
  return { trace, cursor, view, status, position };
}
