/**
 * What a run has achieved after its first `count` rounds. Pure; the same definitions as specviz.metrics.
 *
 * @typedef {object} Metrics
 * @property {number} rounds
 * @property {number} drafted
 * @property {number} accepted
 * @property {number} emitted
 * @property {number|null} rate           accepted / drafted
 * @property {number|null} perRound       emitted / rounds
 * @property {number[]} perPosition       accepted at position i / rounds
 * @property {number} saved               target passes that plain decoding would have needed on top
 * @property {number|null} tokensPerSecond        without the prefill
 * @property {number|null} plainTokensPerSecond   from the measured time of one plain target step
 * @property {number|null} speedup        the one over the other; below 1 it is slower
 */

/** @returns {Metrics} */
export function measure(trace, count) {
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const rounds = trace.rounds.slice(0, count);
  const drafted = sum(rounds.map((r) => r.draft.tokens.length));
  const accepted = sum(rounds.map((r) => r.path.length));
  const emitted = sum(rounds.map((r) => r.path.length + (r.final ? 1 : 0)));
  const ms = sum(rounds.map((r) => sum(r.times.draft) + r.times.target + r.times.verify + r.times.commit));
  const widest = Math.max(0, ...rounds.map((r) => r.draft.tokens.length));
  // a round too short to have position i counts as not accepted there, as in specviz.metrics
  const perPosition = Array.from({ length: widest }, (_, i) => rounds.filter((r) => r.path.length > i).length / rounds.length);
  const tokensPerSecond = ms > 0 ? (emitted * 1000) / ms : null;
  const plainTokensPerSecond = trace.baseline_ms > 0 ? 1000 / trace.baseline_ms : null;
  return {
    rounds: rounds.length,
    drafted,
    accepted,
    emitted,
    rate: drafted ? accepted / drafted : null,
    perRound: rounds.length ? emitted / rounds.length : null,
    perPosition,
    saved: emitted - rounds.length,
    tokensPerSecond,
    plainTokensPerSecond,
    speedup: tokensPerSecond && plainTokensPerSecond ? tokensPerSecond / plainTokensPerSecond : null,
  };
}
