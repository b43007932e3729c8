/** A small trace made by hand, so that every number in the tests can be followed on paper. */

const position = (entries) => ({
  ids: entries.map((e) => e[0]),
  p: entries.map((e) => e[1]),
  q: entries[0].length > 2 ? entries.map((e) => e[2]) : [],
  r: entries[0].length > 3 ? entries.map((e) => e[3]) : [],
  entropy: [0.5, entries[0].length > 2 ? 0.6 : null],
  alpha: entries[0].length > 2 ? 0.7 : null,
});

const times = (draft, target) => ({ draft, target, verify: 1, commit: 1, prefill: 0 });

/** Three drafted, one accepted, one rejected: recovered. */
export function rejectedRound(index = 0, start = 10) {
  return {
    index,
    start,
    draft: { tokens: [1, 2, 3], parents: [-1, 0, 1], q: [0.5, 0.5, 0.9] },
    verdicts: [
      { status: 'accepted', p: 0.8, q: 0.5, u: 0.63 },
      { status: 'rejected', p: 0.155, q: 0.5, u: 0.72 },
      { status: 'unreached', p: 0.9, q: 0.9, u: null },
    ],
    path: [0],
    final: { token: 4, kind: 'recovered', prob: 0.85, u: 0.4 },
    times: times([10, 10, 10], 60),
    target_rows: [start - 1, start + 3, start + 1],
    draft_rows: [start - 1, start + 2, start + 1],
    detail: [
      position([[1, 800000, 500000], [4, 100000, 300000]]),
      position([[4, 600000, 0, 850000], [2, 155000, 500000, 0], [1, 100000, 90000, 10000]]),
      position([[3, 900000, 900000], [1, 50000, 20000]]),
      position([[1, 700000], [2, 300000]]),
    ],
  };
}

/** Two drafted, both accepted: bonus. */
export function bonusRound(index = 1, start = 12) {
  return {
    index,
    start,
    draft: { tokens: [1, 2], parents: [-1, 0], q: [0.5, 0.4] },
    verdicts: [
      { status: 'accepted', p: 0.6, q: 0.5, u: 0.1 },
      { status: 'accepted', p: 0.2, q: 0.4, u: 0.3 },
    ],
    path: [0, 1],
    final: { token: 3, kind: 'bonus', prob: 0.7, u: 0.2 },
    times: times([10, 10], 58),
    target_rows: [start - 1, start + 2, start + 2],
    draft_rows: [start - 1, start + 1, start + 1],
    detail: null,
  };
}

/** Nothing drafted. */
export function plainRound(index = 2, start = 15) {
  return {
    index,
    start,
    draft: { tokens: [], parents: [], q: [] },
    verdicts: [],
    path: [],
    final: { token: 2, kind: 'target', prob: 0.3, u: 0.9 },
    times: times([], 50),
    target_rows: [start - 1, start, start],
    draft_rows: [start - 1, start - 1, start - 1],
    detail: [position([[2, 300000], [1, 200000]])],
  };
}

/** The text ends with the first of two drafted tokens: no final, the second not judged though nothing was rejected. */
export function endedRound(index = 3, start = 16) {
  return {
    ...bonusRound(index, start),
    verdicts: [
      { status: 'accepted', p: 0.6, q: 0.5, u: 0.1 },
      { status: 'unreached', p: 0.2, q: 0.4, u: null },
    ],
    path: [0],
    final: null,
    target_rows: [start - 1, start + 2, start + 1],
  };
}

/** Temperature 0: p and q one-hot, the second draft is not the target's choice. */
export function greedyRound(index = 0, start = 10) {
  return {
    ...rejectedRound(index, start),
    draft: { tokens: [1, 2, 3], parents: [-1, 0, 1], q: [1, 1, 1] },
    verdicts: [
      { status: 'accepted', p: 1, q: 1, u: 0.63 },
      { status: 'rejected', p: 0, q: 1, u: 0.72 },
      { status: 'unreached', p: 1, q: 1, u: null },
    ],
    final: { token: 4, kind: 'recovered', prob: 1, u: 0.4 },
    detail: null,
  };
}

export function traceOf(rounds, more = {}) {
  return {
    schema: 'specviz-trace/1',
    config: { method: 'draft', k: 3, temperature: 0.8, overrides: [], ...more.config },
    models: { pair: 'x', target: 'big', draft: 'small', device: 'cpu', dtype: 'float32', ...more.models },
    prompt: { text: 'Hi', tokens: [9, 9] },
    rounds,
    finish: more.finish === undefined ? null : more.finish,
    baseline_ms: more.baseline_ms === undefined ? 50 : more.baseline_ms,
    vocab: { 1: ' is', 2: ' color', 3: ' the', 4: ' human', 5: { special: '<|im_end|>' }, 6: { bytes: 'e4b8' }, 9: 'x' },
    forked_at: more.forked_at === undefined ? null : more.forked_at,
  };
}
