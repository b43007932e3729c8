/**
 * What a run has achieved after its first `count` rounds. Pure; the same definitions as specviz.metrics.
 *
 * @typedef {object} Metrics
 * @property {number} rounds
 * @property {number} drafted            of trees all nodes
 * @property {number} accepted
 * @property {number} emitted
 * @property {number|null} rate           accepted / drafted
 * @property {number|null} perRound       emitted / rounds
 * @property {number[]} perPosition       accepted at position i (in a tree: at depth i + 1) / rounds
 * @property {number} saved               target passes that plain decoding would have needed on top
 * @property {number|null} tokensPerSecond        without the prefill
 * @property {number|null} plainTokensPerSecond   from the measured time of one plain target step
 * @property {number|null} speedup        the one over the other; below 1 it is slower
 * @property {number|null} draftStepMs    mean of a draft step
 * @property {number|null} checkMs        mean of a target pass that checks drafts
 */

import { treeOf } from './shape.js';

/** Milliseconds of a whole round; reading the prompt is not part of it. */
export function roundMs({ times }) {
  return total(times.draft) + times.target + times.verify + times.commit;
}

function total(list) {
  return list.reduce((a, b) => a + b, 0);
}

/** @returns {Metrics} */
export function measure(trace, count) {
  const rounds = trace.rounds.slice(0, count);
  const drafted = total(rounds.map((r) => r.draft.tokens.length));
  const accepted = total(rounds.map((r) => r.path.length));
  const emitted = total(rounds.map((r) => r.path.length + (r.final ? 1 : 0)));
  const ms = total(rounds.map(roundMs));
  const checked = rounds.filter((r) => r.draft.tokens.length);
  const draftSteps = checked.flatMap((r) => r.times.draft);
  const widest = Math.max(0, ...rounds.map((r) => treeOf(r).depth));
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
    draftStepMs: draftSteps.length ? total(draftSteps) / draftSteps.length : null,
    checkMs: checked.length ? total(checked.map((r) => r.times.target)) / checked.length : null,
  };
}
