/**
 * What becomes of the cache rows of a tree's pass: those of the accepted path move together behind the text, the others
 * are dropped. Pure.
 *
 * @typedef {{node: number, row: number, to: number|null}} CacheRow   node -1 is the text's last token; to: null: dropped
 */
import { treeOf } from './shape.js';

/**
 * The target's rows: the pass reads the text's last token, then every node.
 * @returns {{rows: CacheRow[], kept: number}}
 */
export function gatherOf(round) {
  const nodes = round.draft.tokens.map((_, node) => node);
  return gathered(round, [-1, ...nodes], round.start - 1, round.target_rows);
}

/**
 * The draft's rows, one for each node that it continued; null where it has no cache, or one of another make.
 * @returns {{rows: CacheRow[], kept: number}|null}
 */
export function draftGatherOf(round) {
  if (!round.draft_rows) return null;
  const tree = treeOf(round);
  const read = round.draft.tokens.flatMap((_, node) => (tree.children[node + 1].length ? [node] : []));
  const full = round.draft_rows[1];
  return full - round.start === read.length ? gathered(round, [-1, ...read], round.start - 1, round.draft_rows) : null;
}

/** Row `first` and those behind it, in the order read. */
function gathered(round, nodes, first, [, , kept]) {
  const stays = [-1, ...round.path].filter((node) => nodes.includes(node)).slice(0, kept - first);
  const rows = nodes.map((node, i) => {
    const place = stays.indexOf(node);
    return { node, row: first + i, to: place < 0 ? null : first + place };
  });
  return { rows, kept: stays.length };
}
