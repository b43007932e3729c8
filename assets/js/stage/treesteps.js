/**
 * The steps of a tree round: the heads guess all at once, where there are heads; then candidates, level by level; one
 * pass; a gate for each judged node in the order tried; outcome, gather, commit. Pure.
 */
import { decidedBy, treeOf, walkOf } from './shape.js';

const TREE_MS = { heads: 2200, draft: 1000, pass: 1700, gate: 1400, again: 900, outcome: 2000, cache: 1900, commit: 1100 };

/**
 * @param {Round} round
 * @param {boolean} heads   whether the drafter were Medusa heads
 * @param {(phase: Phase, index: number, ms: number) => number} add   adds a step and gives its number
 * @returns {Marks}         `draft` has the step of each node's level, `walk` the judged nodes in the order tried
 */
export function treeMarks(round, heads, add) {
  const tree = treeOf(round);
  const step = (phase, index = 0, ms = TREE_MS[phase]) => add(phase, index, ms);
  const headsStep = heads ? step('heads') : null;
  const levels = Array.from({ length: tree.depth }, (_, i) => step('draft', i));
  const draft = tree.depths.map((depth) => levels[depth - 1]);
  const pass = step('pass');
  const gate = tree.parents.map(() => null);
  const walk = walkOf(round);
  for (const node of walk) gate[node] = step('gate', node, tree.ranks[node] && round.verdicts[node].status === 'rejected' ? TREE_MS.again : TREE_MS.gate);
  const outcome = step('outcome');
  const settled = decidedBy(round).map((by) => (by === null ? outcome : gate[by]));
  const [cache, commit] = [step('cache'), step('commit')];
  const lastGate = walk.length ? gate[walk.at(-1)] : null;
  return { first: headsStep ?? levels[0], heads: headsStep, levels, draft, pass, gate, walk, lastGate, settled, outcome, cache, commit, end: commit + 1 };
}
