/**
 * What is said at a cursor. Pure: a sentence is `{key, values}`; the words are in stage.json, and the value `tok` is
 * a token id that becomes a chip. Most moments have one sentence, what a visitor set by hand adds a second.
 *
 * @typedef {{key: string, values: Object<string, string|number>}} Sentence
 */
import { formatMs, formatPair, formatProb, formatRatio } from './numbers.js';
import { roundMs } from './metrics.js';
import { acceptChance, drafterOf, hasSmallDraft, isOneHot, likelihoodRatio, outputToken, overrideAt, shortage, targetChoice } from './trace.js';

/** @returns {Sentence[]} */
export function sentencesAt(trace, view) {
  if (view.phase === 'waiting') return [say('s_waiting', { n: trace.prompt.tokens.length })];
  const round = trace.rounds[view.round];
  return { ready: sayReady, draft: sayDraft, pass: sayPass, gate: sayGate, outcome: sayOutcome, cache: sayCache, commit: sayDone }[view.phase](trace, round, view);
}

/** A round in one sentence, for screen readers and titles. @returns {Sentence} */
export function roundSummary(trace, index) {
  const round = trace.rounds[index];
  const r = index + 1;
  const k = round.draft.tokens.length;
  const a = round.path.length;
  if (!round.final) return say('sr_ended', { r, k, a });
  const key = k ? 'sr_' + round.final.kind : 'sr_target';
  return say(key, { r, k, a, n: a + 1, tok: round.final.token });
}

function say(key, values) {
  return { key, values: values || {} };
}

function sayReady(trace, round) {
  const n = round.draft.tokens.length;
  const drafter = drafterOf(trace, round);
  if (drafter === 'none') return [say('s_ready_plain'), ...sayShort(trace, round)];
  return [say(drafter === 'lookup' ? 's_ready_lookup' : 's_ready' + size(trace, round), { n }), ...sayShort(trace, round)];
}

/** Only a draft model of its own is small; the target without some layers is "the draft". */
function size(trace, round) {
  return hasSmallDraft(trace, round) ? '_small' : '';
}

/** Why fewer tokens than k are drafted near the end. */
function sayShort(trace, round) {
  const left = shortage(trace, round);
  if (left === null) return [];
  return [left === 1 ? say('s_short_none') : say('s_short', { n: left, m: left - 1 })];
}

function sayDraft(trace, round, view) {
  const i = view.index;
  const values = { i: i + 1, k: round.draft.tokens.length, tok: round.draft.tokens[i], q: formatProb(round.draft.q[i]) };
  const short = sayShort(trace, round);
  if (overrideAt(trace, view.round, i).token) return [say('s_draft_set', values), ...short];
  if (drafterOf(trace, round) === 'lookup') return [say('s_draft_lookup', values), ...short];
  return [say((isOneHot(round) ? 's_draft_greedy' : 's_draft') + size(trace, round), values), ...short];
}

function sayPass(trace, round) {
  const n = round.draft.tokens.length + 1;
  const values = { n, ms: formatMs(round.times.target), b: formatMs(trace.baseline_ms) };
  if (n === 1) return [say('s_pass_plain', values), ...sayShort(trace, round)];
  return [say(trace.baseline_ms ? 's_pass' : 's_pass_alone', values)];
}

function sayGate(trace, round, view) {
  const i = view.index;
  const verdict = round.verdicts[i];
  const greedy = isOneHot(round); // then u decides nothing
  const sentence = greedy ? sayGreedyGate(round, view) : saySampledGate(trace, round, view);
  const mine = !greedy && view.revealed && verdict.u != null && overrideAt(trace, view.round, i).u;
  return mine ? [sentence, say('s_set_u')] : [sentence];
}

function sayGreedyGate(round, view) {
  const i = view.index;
  const values = { tok: round.draft.tokens[i], choice: targetChoice(round, i) };
  if (!view.revealed) return say('s_greedy_ask', values);
  if (round.verdicts[i].status === 'accepted') return say('s_greedy_accept', values);
  if (values.choice === null) return say('s_greedy_reject_alone', values);
  return say(i === round.draft.tokens.length - 1 ? 's_greedy_reject_last' : 's_greedy_reject', values);
}

function saySampledGate(trace, round, view) {
  const i = view.index;
  const verdict = round.verdicts[i];
  const chance = acceptChance(verdict);
  const [a, u] = verdict.u == null ? [formatProb(chance), '–'] : formatPair(chance, verdict.u);
  const values = { tok: round.draft.tokens[i], a, u, p: formatProb(verdict.p), q: formatProb(verdict.q) };
  const sure = likelihoodRatio(verdict) >= 1;
  if (!view.revealed && sure) return say('s_gate_ask_sure', { ...values, a: formatRatio(likelihoodRatio(verdict)) });
  if (!view.revealed) return say(drafterOf(trace, round) === 'lookup' ? 's_gate_ask_lookup' : 's_gate_ask', values);
  if (sure) return say('s_gate_sure', values);
  if (verdict.status === 'accepted') return say('s_gate_accept', values);
  return say(i === round.draft.tokens.length - 1 ? 's_gate_reject_last' : 's_gate_reject', values);
}

function sayOutcome(trace, round, view) {
  const { final, path } = round;
  if (!final) {
    const last = path.length ? outputToken(round, path.length - 1) : null;
    return [say(trace.finish === 'stop' ? 's_ended_stop' : 's_ended', { tok: last })];
  }
  const greedy = isOneHot(round) ? '_greedy' : '';
  const ask = view.revealed ? '' : '_ask';
  return [say('s_' + final.kind + greedy + ask, { tok: final.token, r: formatProb(final.prob) })];
}

function sayCache(trace, round) {
  const [, full, kept] = round.target_rows;
  const values = { n: full - round.start, a: kept - round.start, x: full - kept };
  if (values.n === 0) return [say('s_cache_plain')];
  return [say(values.x === 0 ? 's_cache_all' : values.a === 0 ? 's_cache_none' : 's_cache', values)];
}

function sayDone(trace, round) {
  const a = round.path.length;
  const n = a + (round.final ? 1 : 0);
  const values = { n, a, total: formatMs(roundMs(round)) };
  if (!round.draft.tokens.length) return [say('s_done_plain', values)];
  const done = say('s_done_' + (round.final ? round.final.kind : 'ended'), values);
  if (!trace.baseline_ms) return [done];
  // a digit more than elsewhere, so that the product can be followed
  return [done, say('s_done_compare', { n, b: trace.baseline_ms.toFixed(1), plain: formatMs(n * trace.baseline_ms) })];
}
