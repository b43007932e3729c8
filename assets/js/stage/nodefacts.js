/** Facts about one node of a tree: where it stands, what it sees, who was tried before it. Pure. */
import { gatherOf } from './gather.js';
import { formatMillionths, formatProb } from './numbers.js';
import { finalContext, treeOf } from './shape.js';
import { exactZeros } from './trace.js';

/** The tokens from the root's child down to a node; of the final token (the index after the last node) with it. */
export function pathTokens(round, node) {
  const { tokens } = round.draft;
  if (node < tokens.length) return treeOf(round).path(node).map((one) => tokens[one]);
  return [...round.path.map((one) => tokens[one]), ...(round.final ? [round.final.token] : [])];
}

/** The context that a node was judged in, or the final token drawn in. */
export function contextOf(round, node) {
  return node < round.draft.tokens.length ? round.draft.parents[node] + 1 : finalContext(round);
}

/**
 * @returns {{level: number, rank: number, of: number, position: number, row: number, to: number|null,
 *   ancestors: number, before: number[]}}
 *   `rank` of `of` siblings, counted from 1; `position` id; cache `row` during the pass, and `to` which it is gathered
 */
export function nodeFacts(round, node) {
  const tree = treeOf(round);
  const level = tree.depths[node];
  const { row, to } = gatherOf(round).rows[node + 1];
  return {
    level,
    rank: tree.ranks[node] + 1,
    of: tree.children[tree.parents[node] + 1].length,
    position: round.start - 1 + level,
    row,
    to,
    ancestors: level - 1,
    before: tree.before(node),
  };
}

/** p of a node's token in its context, before any sibling was rejected: a number, and as it is read. */
export function pOf(round, node) {
  const recorded = recordedP(round, node);
  return recorded === null ? round.verdicts[node].p : recorded / 1e6;
}

export function pText(round, node) {
  const recorded = recordedP(round, node);
  return recorded === null ? formatProb(round.verdicts[node].p) : formatMillionths(recorded, exactZeros(round).p);
}

/** In millionths; null where it was not recorded. */
function recordedP(round, node) {
  const detail = round.detail && round.detail[contextOf(round, node)];
  const at = detail ? detail.ids.indexOf(round.draft.tokens[node]) : -1;
  return at < 0 ? null : detail.p[at];
}
