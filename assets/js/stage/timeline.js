/**
 * The timeline: a trace cut into steps. Pure.
 *
 * The cursor is a real number. Its whole part counts finished steps, its fraction is the progress of the step under
 * way, so any frame of any animation has an address, and going back is the same as never having gone on.
 *
 * @typedef {'heads'|'draft'|'pass'|'gate'|'outcome'|'cache'|'commit'} Phase   'heads' only where Medusa heads draft a tree
 * @typedef {{round: number, phase: Phase, index: number, ms: number}} Step
 * @typedef {object} Marks          where the steps of one round lie
 * @property {number} first         step with which the round begins
 * @property {number|null} [heads]  of a tree: the step in which the heads guess
 * @property {number[]} [levels]    of a tree: the step of each level
 * @property {number[]} [walk]      of a tree: the judged nodes in the order tried
 * @property {number[]} draft       step of each drafted token
 * @property {number} pass
 * @property {(number|null)[]} gate step of each judged token; null where no gate was reached
 * @property {number|null} lastGate
 * @property {number[]} settled     step at which each drafted token's fate is known
 * @property {number} outcome
 * @property {number} cache
 * @property {number} commit
 * @property {number} end           cursor at which the round is over
 * @typedef {{steps: Step[], rounds: Marks[], length: number}} Timeline
 * @typedef {object} View           what the cursor points at
 * @property {number} cursor
 * @property {number} round         index of the round on the board; -1 while there is none
 * @property {Phase|'ready'|'waiting'} phase
 * @property {number} index         position within the phase; at a gate the token, while a tree is drafted the level
 * @property {number} fraction      progress of the step, 0..1; 1 = finished
 * @property {boolean} revealed     whether the step has told its result
 * @property {string} key           changes when anything said in words changes
 */
import { clamp01 } from './numbers.js';
import { decidedInBlock, ruleOf } from './rule.js';
import { drawsTree, hasHeads } from './trace.js';
import { treeMarks } from './treesteps.js';

/** Milliseconds of each step at speed 1, with the time to read it. */
const STEP_MS = { draft: 520, pass: 1300, gate: 1300, outcome: 1900, cache: 1300, commit: 1100 };
/** A round without a draft is an ordinary decoding step: there is less to read. */
const PLAIN_MS = { pass: 900, outcome: 900, cache: 450, commit: 450 };

/** The part of a step after which its result is out: before, the words ask; after, they tell. */
export const REVEAL = { pass: 0.45, gate: 0.6, outcome: 0.45 };

/** @returns {Timeline} */
export function buildTimeline(trace) {
  const steps = [];
  const rounds = trace.rounds.map((round, r) => {
    const add = (phase, index, ms) => steps.push({ round: r, phase, index, ms }) - 1;
    if (!drawsTree(trace, round)) return chainMarks(round, add);
    if (round.draft.tokens.length) return treeMarks(round, hasHeads(trace, round), add);
    return { ...chainMarks(round, add), heads: null, levels: [], walk: [] }; // an ordinary step on the board of trees
  });
  return { steps, rounds, length: steps.length };
}

/** @returns {Marks} */
function chainMarks(round, add) {
  const plain = round.draft.tokens.length === 0;
  const step = (phase, index = 0) => add(phase, index, (plain && PLAIN_MS[phase]) || STEP_MS[phase]);
  const draft = round.draft.tokens.map((_, i) => step('draft', i));
  const pass = step('pass');
  const gate = round.verdicts.map((v, i) => (v.status === 'unreached' ? null : step('gate', i)));
  const reached = gate.filter((number) => number !== null);
  const lastGate = reached.length ? reached.at(-1) : null;
  const outcome = step('outcome', round.path.length);
  const [cache, commit] = [step('cache'), step('commit')];
  return { first: draft.length ? draft[0] : pass, draft, pass, gate, lastGate, settled: chainFates(round, gate, lastGate, outcome), outcome, cache, commit, end: commit + 1 };
}

/** The step at which the fate of each token of a chain is known. */
function chainFates(round, gate, lastGate, outcome) {
  const decided = ruleOf(round) === 'block' ? decidedInBlock(round.verdicts) : null;
  // after a rejection the rest falls with it; where the text just ended, that is said by the outcome
  const rest = round.verdicts.some((v) => v.status === 'rejected') ? lastGate : outcome;
  return gate.map((number, i) => (number === null ? rest : decided ? gate[decided[i]] : number));
}

/** Progress of a step at a cursor, 0..1. */
export function progressAt(cursor, step) {
  return clamp01(cursor - step);
}

/** Whether the fate of drafted token i has been told at a cursor. */
export function isSettled(marks, i, cursor) {
  const step = marks.settled[i];
  return cursor >= step + (step === marks.outcome ? REVEAL.outcome : REVEAL.gate);
}

/** Whether the end of the round on the board has been told at a view. */
export function isOutcomeTold(timeline, { round, cursor }) {
  return round >= 0 && cursor >= timeline.rounds[round].outcome + REVEAL.outcome;
}

/** @returns {View} */
export function viewAt(timeline, cursor) {
  const at = Math.max(0, Math.min(timeline.length, cursor));
  if (!timeline.length) return { cursor: 0, round: -1, phase: 'waiting', index: 0, fraction: 0, revealed: false, key: 'waiting' };
  if (at === 0) return { cursor: 0, round: 0, phase: 'ready', index: 0, fraction: 0, revealed: false, key: 'ready' };
  const number = Math.ceil(at) - 1;
  const { round, phase, index } = timeline.steps[number];
  const fraction = at - number;
  const revealed = fraction >= (REVEAL[phase] || 0);
  return { cursor: at, round, phase, index, fraction, revealed, key: [number, revealed, fraction === 1].join() };
}

/**
 * The cursor at which a step has just finished, so that its whole picture is shown.
 * Without a phase: the beginning of the round. Out of range: the nearest there is.
 */
export function cursorFor(timeline, round, phase, index = 0) {
  if (!timeline.rounds.length) return 0;
  const marks = timeline.rounds[Math.max(0, Math.min(timeline.rounds.length - 1, round))];
  if (!phase) return marks.first;
  if (phase === 'end') return marks.end;
  const step = marks[phase];
  if (step == null) return marks.first; // no heads here
  if (!Array.isArray(step)) return step + 1;
  const reached = step.filter((s) => s !== null);
  if (!reached.length) return phase === 'draft' ? marks.first : marks.pass + 1; // k = 0: there is no such step
  return (step[index] ?? Math.max(...reached)) + 1;
}

/** How many rounds are over at a cursor. */
export function finishedRounds(timeline, cursor) {
  let done = 0;
  while (done < timeline.rounds.length && timeline.rounds[done].end <= cursor) done++;
  return done;
}

/** Where the cursor lies on a ribbon of equally wide rounds: 0 .. number of rounds. */
export function ribbonPlace(timeline, cursor) {
  const view = viewAt(timeline, cursor);
  if (view.round < 0) return 0;
  const { first, end } = timeline.rounds[view.round];
  return view.round + (view.cursor - first) / (end - first);
}

/** The cursor (a whole step) at a place on the ribbon. */
export function cursorAtPlace(timeline, place) {
  if (!timeline.rounds.length) return 0;
  const round = Math.max(0, Math.min(timeline.rounds.length - 1, Math.floor(place)));
  const { first, end } = timeline.rounds[round];
  return first + Math.round(clamp01(place - round) * (end - first));
}

/** The whole step after (+1) or before (-1) a cursor. */
export function neighbourStep(timeline, cursor, direction) {
  const next = direction > 0 ? Math.floor(cursor + 1e-6) + 1 : Math.ceil(cursor - 1e-6) - 1;
  return Math.max(0, Math.min(timeline.length, next));
}

/** The end of this round, or of the next or previous one. */
export function neighbourRound(timeline, cursor, direction) {
  const { round } = viewAt(timeline, cursor);
  if (round < 0) return 0;
  const marks = timeline.rounds;
  if (direction < 0) return round > 0 ? marks[round - 1].end : 0;
  const next = cursor >= marks[round].end && marks[round + 1] ? round + 1 : round;
  return marks[next].end;
}
