/** What the inspector speaks of, and what is known there at a view. It never tells more than the run has shown. Pure. */
import { contextOf } from './nodefacts.js';
import { judgesByChoice } from './rule.js';
import { isSettled, REVEAL } from './timeline.js';
import { drawsTree } from './trace.js';

const LATE = ['outcome', 'cache', 'commit'];

/**
 * @typedef {object} Inspected
 * @property {number} position
 * @property {number} context                     where it was judged; in a chain the position
 * @property {'draft'|'final'|'extra'|'hidden'} subject
 * @property {boolean} passed                     whether p is known
 * @property {boolean} open                       whether p may be shown: at a node whose verdict it would tell, not before
 * @property {string|null} kind                   status, or the final token's kind, once it is out
 * @property {boolean} judged                     whether its own gate has been seen; in a block its fate can be open still
 * @property {boolean} drawn                      whether the final token is out
 */

/** @returns {Inspected|null} */
export function inspected(trace, timeline, view, pinned) {
  if (view.round < 0 || (view.phase === 'ready' && pinned === null)) return null;
  const round = trace.rounds[view.round];
  const tree = drawsTree(trace, round);
  const marks = timeline.rounds[view.round];
  const k = round.draft.tokens.length;
  const drawn = round.final !== null && view.cursor >= marks.outcome + REVEAL.outcome;
  const known = { passed: view.cursor >= marks.pass + REVEAL.pass, drawn };
  const open = (told) => known.passed && (told || !tree || !judgesByChoice(round));
  const position = pinned ?? (tree ? followedNode(round, view) : followedColumn(round, view));
  if (position === null) return null;
  if (isFinal(round, view, position, pinned, tree)) {
    const context = tree ? contextOf(round, k) : position;
    return { position, context, subject: 'final', ...known, open: open(drawn), judged: false, kind: drawn ? round.final.kind : null };
  }
  if (position >= k) return { position, context: position, subject: 'extra', ...known, open: known.passed, judged: false, kind: null };
  const drafted = view.cursor > marks.draft[position];
  const settled = isSettled(marks, position, view.cursor);
  const gate = marks.gate[position];
  const judged = gate !== null && view.cursor >= gate + REVEAL.gate;
  const context = contextOf(round, position);
  return { position, context, subject: drafted ? 'draft' : 'hidden', ...known, open: open(settled), judged, kind: settled ? round.verdicts[position].status : null };
}

function followedColumn(round, view) {
  if (LATE.includes(view.phase)) return round.path.length - (round.final ? 0 : 1);
  return view.phase === 'pass' ? 0 : view.index;
}

/** While a tree is drafted and checked as a whole, no node is spoken of. */
function followedNode(round, view) {
  if (LATE.includes(view.phase)) return round.final ? round.draft.tokens.length : round.path.at(-1) ?? null;
  return view.phase === 'gate' ? view.index : null;
}

/** In a chain the final token has the place of a rejected draft: the run speaks of the one, a pin of the other. */
function isFinal(round, view, position, pinned, tree) {
  const k = round.draft.tokens.length;
  if (!round.final) return false;
  if (tree) return position === k;
  return position === round.path.length && (position === k || (LATE.includes(view.phase) && pinned === null));
}
