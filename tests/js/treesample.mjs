/** Small trees made by hand, so that every number in the tests can be followed on paper. */
import { traceOf } from './sample.mjs';

/*
 *   text ─┬─ 0 ─┬─ 3 ── 5
 *         │     └─ 4
 *         └─ 1 ─── 6
 *         └─ 2
 */
export const PARENTS = [-1, -1, -1, 0, 0, 3, 1];

const verdict = (status, p, q = 1, u = null, more = {}) => ({ status, p, q, u, ...more });
const rest = (p = 0.01) => verdict('unreached', p);
const times = { draft: [9], target: 80, verify: 2, commit: 1, prefill: 0 };

/** One context of a distribution: [id, p, q, r] in millionths. */
const context = (rows, more = {}) => ({
  ids: rows.map((row) => row[0]),
  p: rows.map((row) => row[1]),
  q: rows[0].length > 2 ? rows.map((row) => row[2]) : [],
  r: rows[0].length > 3 ? rows.map((row) => row[3]) : [],
  entropy: [0.4, rows[0].length > 2 ? 0.9 : null],
  alpha: rows[0].length > 2 ? 0.3 : null,
  ...more,
});

/** Fixed children: 0 refused, 1 accepted, its child 6 refused; then a token is recovered. */
export function refusedRound(index = 0, start = 10) {
  return {
    index,
    start,
    draft: { tokens: [1, 2, 3, 4, 1, 2, 3], parents: PARENTS, q: [0.6, 0.2, 0.1, 0.5, 0.2, 0.4, 0.4] },
    verdicts: [verdict('rejected', 0.3, 1, 0.9), verdict('accepted', 0.7, 1, 0.5), rest(0.1), rest(), rest(), rest(), verdict('rejected', 0.2, 1, 0.6)],
    path: [1],
    final: { token: 4, kind: 'recovered', prob: 0.8, u: 0.1 },
    times,
    target_rows: [start - 1, start + 7, start + 1],
    draft_rows: null,
    detail: [
      context([[1, 300000, 600000], [2, 490000, 200000], [3, 100000, 100000]]),
      context([[4, 500000, 500000], [1, 20000, 200000]]),
      context([[3, 200000, 400000, 0], [4, 640000, 100000, 800000]]),
      context([[4, 900000]]),
      context([[2, 400000, 400000]]),
      context([[1, 900000]]),
      context([[1, 900000]]),
      context([[1, 900000]]),
    ],
  };
}

/** Accepted down to the leaf 5: a bonus. */
export function leafRound(index = 1, start = 12) {
  return {
    ...refusedRound(index, start),
    verdicts: [verdict('accepted', 0.9, 1, 0.1), rest(), rest(), verdict('rejected', 0.2, 1, 0.7), verdict('accepted', 0.8, 1, 0.3), rest(), rest()],
    path: [0, 4],
    final: { token: 5, kind: 'bonus', prob: 0.7, u: 0.2 },
    target_rows: [start - 1, start + 7, start + 2],
    detail: null,
  };
}

/** Siblings drawn from q by a draft model with a cache; the text ends with node 0. */
export function drawnRound(index = 0, start = 10) {
  return {
    ...refusedRound(index, start),
    verdicts: [verdict('accepted', 0.3, 0.6, 0.2), rest(), rest(), rest(), rest(), rest(), rest()],
    path: [0],
    final: null,
    times: { ...times, draft: [9, 12, 11] },
    target_rows: [start - 1, start + 7, start + 1],
    draft_rows: [start - 1, start + 3, start + 1],
    detail: null,
  };
}

/** Temperature 0: the target's choice is node 0, then token 3, which nobody proposed. */
export function choiceRound(index = 0, start = 10) {
  return {
    ...refusedRound(index, start),
    verdicts: [verdict('accepted', 1, 1, 0.9), rest(0), rest(0), verdict('rejected', 0, 1, 0.1), verdict('rejected', 0, 1, 0.2), rest(1), rest(1)],
    path: [0],
    final: { token: 3, kind: 'recovered', prob: 1, u: 0.3 },
    target_rows: [start - 1, start + 7, start + 1],
    detail: null,
  };
}

/** Typical acceptance: 0 and 1 pass, the longer path counts; 4 passes too, beside it. */
export function typicalRound(index = 0, start = 10) {
  const judged = (status, p) => verdict(status, p, 0.5, null, { limit: 0.09 });
  return {
    ...refusedRound(index, start),
    verdicts: [judged('accepted', 0.6), judged('unreached', 0.2), judged('rejected', 0.01), judged('accepted', 0.5), judged('unreached', 0.3), judged('rejected', 0.02), judged('unreached', 0.5)],
    path: [0, 3],
    final: { token: 2, kind: 'target', prob: 0.4, u: 0.3 },
    target_rows: [start - 1, start + 7, start + 2],
    detail: null,
  };
}

const TREE = [[0], [1], [2], [0, 0], [0, 1], [0, 0, 0], [1, 0]];

export function treeTrace(rounds, more = {}) {
  return traceOf(rounds, { ...more, config: { method: 'medusa', k: 3, tree: TREE, siblings: 'fixed', nodes: 0, verify: 'lossless', eps: 0.09, delta: 0.3, ...more.config } });
}

/** Block verification of a chain: 0 passes, 1 does not but is carried by 2, 3 is rejected. */
export function blockRound(index = 0, start = 10) {
  const judged = (status, limit, u) => verdict(status, 0.3, 0.5, u, { limit });
  return {
    ...refusedRound(index, start),
    draft: { tokens: [1, 2, 3, 4], parents: [-1, 0, 1, 2], q: [0.5, 0.5, 0.5, 0.5] },
    verdicts: [judged('accepted', 1, 0.4), judged('accepted', 0.2, 0.6), judged('accepted', 0.7, 0.3), judged('rejected', 0.1, 0.8)],
    path: [0, 1, 2],
    final: { token: 5, kind: 'recovered', prob: 0.5, u: 0.2 },
    times: { ...times, draft: [9, 9, 9, 9] },
    target_rows: [start - 1, start + 4, start + 3],
    draft_rows: [start - 1, start + 3, start + 3],
    detail: null,
  };
}
