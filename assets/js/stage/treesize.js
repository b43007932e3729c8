/** How many rows the trees of a run need, so that the board is as high in all its rounds. Pure. */
import { Tree, treeOf } from './shape.js';

const ROOMY = 23;

export function mostRows(trace) {
  const own = trace.rounds.map((round) => (round.layout ? round.layout.rows : rowsOf(treeOf(round))));
  return Math.max(1, wantedRows(trace.config), ...own);
}

/** The rows of the tree that was asked for; 0 when it grows by itself. */
function wantedRows({ tree }) {
  if (!tree || !tree.length) return 0;
  const sorted = [...tree].sort((a, b) => a.length - b.length);
  const at = new Map(sorted.map((choice, node) => [choice.join(), node]));
  return rowsOf(new Tree(sorted.map((choice) => at.get(choice.slice(0, -1).join()) ?? -1)));
}

/** About as many as the layout takes: a row a leaf while that is not too high, else as many as the widest level has. */
function rowsOf(tree) {
  const leaves = tree.parents.filter((_, node) => !tree.children[node + 1].length).length;
  const widest = Math.max(0, ...tree.depths.map((depth) => tree.level(depth).length));
  return 1 + Math.max(widest, Math.min(leaves, ROOMY));
}
