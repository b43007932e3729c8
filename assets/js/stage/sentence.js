/** What is said at a cursor. Pure. Most moments have one sentence; what a visitor set by hand adds a second. */
import { sayGate } from './gatesentence.js';
import { roundMs } from './metrics.js';
import { formatMs, formatPair, formatProb } from './numbers.js';
import { judgesByChoice, ruleOf } from './rule.js';
import { say } from './say.js';
import { finalContext, treeOf } from './shape.js';
import { TREE_SAYINGS } from './treesentence.js';
import { drafterOf, drawsTree, hasHeads, hasSmallDraft, isGreedyTarget, isOneHot, outputToken, overrideAt, shortage } from './trace.js';

/** @returns {Sentence[]} */
export function sentencesAt(trace, view) {
  if (view.phase === 'waiting') return [say('s_waiting', { n: trace.prompt.tokens.length })];
  const round = trace.rounds[view.round];
  const branches = round.draft.tokens.length > 0 && drawsTree(trace, round);
  const sayings = branches ? { ...SAYINGS, ...TREE_SAYINGS } : SAYINGS;
  return sayings[view.phase](trace, round, view);
}

const SAYINGS = { ready: sayReady, draft: sayDraft, pass: sayPass, gate: sayGate, outcome: sayOutcome, cache: sayCache, commit: sayDone };

/** A round in one sentence, for screen readers and titles. @returns {Sentence} */
export function roundSummary(trace, index) {
  const round = trace.rounds[index];
  const r = index + 1;
  const k = round.draft.tokens.length;
  const a = round.path.length;
  const tree = k > 0 && drawsTree(trace, round) ? 'tree_' : '';
  if (!round.final) return say('sr_' + tree + 'ended', { r, k, a });
  const refused = lastRefused(round);
  if (refused !== null) return sayRefused(round, refused, tree, { r, k, a, n: a + 1, tok: round.final.token });
  const kind = k && round.final.kind === 'target' ? 'drawn' : round.final.kind; // some was drafted, and p drawn from all the same
  return say('sr_' + tree + kind, { r, k, a, n: a + 1, tok: round.final.token });
}

/** The node whose rejection ended the path, or null: a block is judged as a whole, and has none. */
function lastRefused(round) {
  if (ruleOf(round) === 'block') return null;
  const refused = treeOf(round).children[finalContext(round)].filter((node) => round.verdicts[node].status === 'rejected');
  return refused.length ? refused.at(-1) : null;
}

function sayRefused(round, node, tree, values) {
  const { p, q, u, limit } = round.verdicts[node];
  const told = { ...values, refused: round.draft.tokens[node] };
  if (judgesByChoice(round)) return say('sr_' + tree + 'refused_choice', told);
  if (ruleOf(round) === 'typical') {
    const [above, under] = formatPair(p, limit);
    return say('sr_' + tree + 'refused_limit', { ...told, p: above, limit: under });
  }
  return say('sr_' + tree + 'refused', { ...told, p: formatProb(p), q: formatProb(q), u: formatProb(u) });
}

function sayReady(trace, round) {
  const n = round.draft.tokens.length;
  const drafter = drafterOf(trace, round);
  if (drafter === 'none') return [say('s_ready_plain'), ...sayShort(trace, round)];
  const ready = drafter === 'lookup' ? 's_ready_lookup' : hasHeads(trace, round) ? 's_ready_heads' : 's_ready' + size(trace, round);
  return [say(ready, { n }), ...sayShort(trace, round)];
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
  const heads = hasHeads(trace, round); // they guess all at once, whatever is shown of it first
  if (overrideAt(trace, view.round, i).token) return [say(heads ? 's_draft_set_heads' : 's_draft_set', values), ...short];
  if (drafterOf(trace, round) === 'lookup') return [say('s_draft_lookup', values), ...short];
  if (heads) return [say(isOneHot(round) ? 's_draft_heads_greedy' : 's_draft_heads', values), ...short];
  return [say((isOneHot(round) ? 's_draft_greedy' : 's_draft') + size(trace, round), values), ...short];
}

function sayPass(trace, round) {
  const n = round.draft.tokens.length + 1;
  const values = { n, ms: formatMs(round.times.target), b: formatMs(trace.baseline_ms) };
  if (n === 1) return [say('s_pass_plain', values), ...sayShort(trace, round)];
  return [say(trace.baseline_ms ? 's_pass' : 's_pass_alone', values)];
}

function sayOutcome(trace, round, view) {
  const { final, path } = round;
  if (!final) {
    const last = path.length ? outputToken(round, path.length - 1) : null;
    return [say(trace.finish === 'stop' ? 's_ended_stop' : 's_ended', { tok: last })];
  }
  const ask = view.revealed ? '' : '_ask';
  const values = { tok: final.token, r: formatProb(final.prob) };
  const rule = ruleOf(round);
  if (rule !== 'gates' && final.kind !== 'bonus') return [say('s_' + rule + '_final' + ask, values)];
  const greedy = isGreedyTarget(round) ? '_greedy' : '';
  return [say('s_' + final.kind + greedy + ask, values)];
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
