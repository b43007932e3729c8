/**
 * The trace as the browser reads it (schema "specviz-trace/1"): its types, and the few facts that follow from one
 * round alone. Pure: no DOM, no words.
 *
 * @typedef {'accepted'|'rejected'|'unreached'} Status
 * @typedef {'recovered'|'bonus'|'target'} Kind
 * @typedef {{status: Status, p: number, q: number, u: number|null, limit?: number|null}} Verdict
 *   p and q are those "at its turn", after the siblings tried before it; `limit` decides instead under the rules that
 *   have one, see rule.js
 * @typedef {{token: number, kind: Kind, prob: number, u: number}} Final
 * @typedef {object} Position     distributions at one position; probabilities in millionths
 * @property {number[]} ids       the likeliest tokens of p, of q and of r together
 * @property {number[]} p
 * @property {number[]} q         empty where nothing was drafted
 * @property {number[]} r         the residual norm(max(0, p - q)); empty unless a token was recovered from it
 * @property {[number, number|null]} entropy   of p and of q, in nats
 * @property {number|null} alpha  sum over the vocabulary of min(p, q)
 * @typedef {object} Round
 * @property {number} index
 * @property {number} start       length of the text before the round; drafted token i sits at position start - 1 + its
 *                                 depth, which in a chain is start + i
 * @property {{tokens: number[], parents: number[], q: number[]}} draft
 * @property {Verdict[]} verdicts
 * @property {number[]} path      indices of the accepted tokens
 * @property {Final|null} final   null when the text ended inside the accepted tokens
 * @property {{draft: number[], target: number, verify: number, commit: number, prefill: number}} times   ms
 * @property {[number, number, number]} target_rows       KV rows before the round, at its fullest, kept
 * @property {[number, number, number]|null} draft_rows   null: the drafter has no cache
 * @property {Position[]|null} detail   of each context, see shape.js; in a chain context i is position i
 * @property {Layout} [layout]   where the nodes of a tree are drawn
 * @typedef {object} Layout       made by specviz/views/tree_layout.py
 * @property {number[]} x         column of each node: its depth, the root's children at 1
 * @property {number[]} y         its place from above, in rows
 * @property {number} root        that of the root
 * @property {[number, number]|null} final   column and row of the final token
 * @property {number} rows        how many rows there are
 * @property {number} levels      depth of the tree
 * @typedef {object} Trace
 * @property {object} config
 * @property {object} models
 * @property {{text: string, tokens: number[]}} prompt
 * @property {Round[]} rounds
 * @property {string|null} finish
 * @property {number|null} baseline_ms
 * @property {Object<string, string|{special: string}|{bytes: string}>} vocab
 * @property {number|null} forked_at
 */

import { finalContext, isChain, treeOf } from './shape.js';

/** p/q as the gate uses it: infinite when only p is positive, and never NaN. */
export function likelihoodRatio(verdict) {
  if (verdict.q > 0) return verdict.p / verdict.q;
  return verdict.p > 0 ? Infinity : 0;
}

/** The chance of acceptance, min(1, p/q). */
export function acceptChance(verdict) {
  return Math.min(1, likelihoodRatio(verdict));
}

const isCertain = (x) => x === 0 || x === 1;

/**
 * Whether p and q were one-hot in this round (temperature 0, or top_k 1). Read off the round itself, because a
 * forked trace holds rounds of other settings than its own. Words like "its chance" would be odd there.
 */
export function isOneHot(round) {
  return isGreedyTarget(round) && round.verdicts.every((v) => isCertain(v.q));
}

/** Whether p alone was one-hot: so it is too where a sampled draft is judged by the target's first choice. */
export function isGreedyTarget(round) {
  if (round.detail && round.detail.some((position) => position.entropy[0] > 0)) return false;
  return round.verdicts.every((v) => isCertain(v.p)) && (round.final ? round.final.prob === 1 : round.verdicts.length > 0);
}

/** The likeliest token of p in a context, or null where it was not recorded. */
export function targetChoice(round, context) {
  const { final } = round;
  if (final && context === finalContext(round) && isGreedyTarget(round)) return final.token;
  const detail = round.detail && round.detail[context];
  if (!detail || !detail.ids.length) return null;
  return detail.ids[detail.p.indexOf(Math.max(...detail.p))];
}

/** The token at a position of the output: drafted and accepted, or the final one; null when there is none. */
export function outputToken(round, position) {
  if (position < round.path.length) return round.draft.tokens[round.path[position]];
  return position === round.path.length && round.final ? round.final.token : null;
}

/** The position that the final token has on the board: behind the accepted tokens, in a tree behind all nodes. */
export function finalPosition(trace, round) {
  return drawsTree(trace, round) ? round.draft.tokens.length : round.path.length;
}

/** The last `count` tokens of the text before a round. */
export function tokensBefore(trace, index, count) {
  const found = [];
  for (let r = index - 1; r >= 0 && found.length < count; r--) {
    const { path, draft, final } = trace.rounds[r];
    found.unshift(...path.map((i) => draft.tokens[i]), ...(final ? [final.token] : []));
  }
  if (found.length < count) found.unshift(...trace.prompt.tokens.slice(-count));
  return found.slice(-count);
}

/** What the visitor set by hand at a drafted position. */
export function overrideAt(trace, roundIndex, position) {
  const found = { u: false, token: false };
  for (const o of trace.config.overrides || []) {
    if (o.round !== roundIndex || o.position !== position) continue;
    if (o.u != null) found.u = true;
    if (o.token != null) found.token = true;
  }
  return found;
}

/**
 * How a round's tokens were drafted: 'none' (k = 0), 'lookup' (copied from the text, q = 1) or 'model'.
 * Rounds copied from another trace may have had another drafter; one without cache that is always sure is a lookup.
 */
export function drafterOf(trace, round) {
  if (!round.draft.tokens.length) return 'none';
  if (isCopied(trace, round)) return !round.draft_rows && round.draft.q.every((q) => q === 1) ? 'lookup' : 'model';
  return trace.config.method === 'lookup' ? 'lookup' : 'model';
}

/** Whether a round was copied from another trace, whose settings this one does not tell. */
export function isCopied(trace, round) {
  return trace.forked_at != null && round.index < trace.forked_at;
}

/** Whether the whole trace is plain decoding: every token is the target's own. */
export function isPlain(trace) {
  return trace.config.method === 'none' && trace.forked_at == null;
}

/** Whether the drafter was a smaller model; the target without some layers is none. */
export function hasSmallDraft(trace, round) {
  return trace.config.method === 'draft' && !isCopied(trace, round);
}

/** How far ahead a round drafts at most: k, or the depth of the tree that was asked for. */
export function depthOf({ tree, k }) {
  return tree && tree.length ? Math.max(...tree.map((choice) => choice.length)) : k;
}

/** Whether drafts branch by these settings. */
export function isTreeConfig({ tree, nodes }) {
  return Boolean((tree && tree.length) || nodes);
}

/** How siblings are chosen: heads and EAGLE-style layers put in the likeliest, whatever the setting. */
export function siblingsOf({ method, siblings }) {
  return method === 'draft' || method === 'skip' ? siblings : 'fixed';
}

/** Whether a round is drawn as a tree: it is one, or one was asked for and only a chain was left of it. */
export function drawsTree(trace, round) {
  return !isChain(round.draft.parents) || (isTreeConfig(trace.config) && !isCopied(trace, round));
}

/** Whether a round's drafter were Medusa heads, which all guess at once. */
export function hasHeads(trace, round) {
  return trace.config.method === 'medusa' && !isCopied(trace, round);
}

/** How many tokens were left to write, where that is why fewer than k were drafted; else null. */
export function shortage(trace, round) {
  const { method, nodes, max_new_tokens: most } = trace.config;
  const { depth } = treeOf(round);
  // a tree that grows by confidence can also be flat because the draft was unsure
  if (method === 'none' || most == null || isCopied(trace, round) || nodes || depth >= depthOf(trace.config)) return null;
  const left = trace.prompt.tokens.length + most - round.start;
  return left >= 1 && depth === left - 1 ? left : null; // the target adds one
}

/**
 * What the boards of a trace have rows for. It is the same for all its rounds, so that nothing moves from one to the
 * next: `gates` where anything can be drafted, `draftCache` where the drafter has one, `columns` without drawing more
 * than the widest round needs.
 */
export function boardShape(trace) {
  const { method, k } = trace.config;
  const copied = trace.rounds.filter((round) => isCopied(trace, round));
  return {
    gates: (method !== 'none' && k > 0) || copied.some((round) => round.draft.tokens.length),
    draftCache: method === 'skip' || method === 'draft' || copied.some((round) => round.draft_rows),
    columns: Math.max(method === 'none' ? 0 : k, ...copied.map((round) => round.draft.tokens.length)) + 1,
  };
}

/**
 * Rows of the distributions in a context (in a chain: at a position) as `{id, p, q, r}` in millionths (null: not
 * recorded), or null without detail. A drafted token too unlikely to be recorded (one set by hand) is added from its
 * verdict.
 */
export function distributionAt(round, context) {
  const detail = round.detail && round.detail[context];
  if (!detail) return null;
  const at = (list, i) => (list && list.length ? list[i] : null);
  const rows = detail.ids.map((id, i) => ({ id, p: detail.p[i], q: at(detail.q, i), r: at(detail.r, i) }));
  const [first] = treeOf(round).children[context]; // only of the first is p what the context gives
  const drafted = round.draft.tokens[first];
  if (first !== undefined && !rows.some((row) => row.id === drafted)) {
    const { p, q } = round.verdicts[first];
    const millionths = (x) => Math.round(x * 1e6);
    rows.push({ id: drafted, p: millionths(p), q: millionths(q), r: detail.r.length ? 0 : null });
  }
  return rows;
}

/** Where a recorded 0 is an exact zero, for p and for q: in one-hot distributions. */
export function exactZeros(round) {
  return { p: isGreedyTarget(round), q: round.draft.q.length > 0 && round.draft.q.every(isCertain) };
}

/** The first `count` rows by `weight`: those of the tokens `must` always, of the others none of weight 0. */
export function topRows(rows, weight, count, must) {
  const sorted = rows.slice().sort((a, b) => weight(b) - weight(a) || a.id - b.id);
  const needed = sorted.filter((row) => must.includes(row.id));
  const rest = sorted.filter((row) => !must.includes(row.id) && weight(row) > 0);
  const kept = new Set([...needed, ...rest.slice(0, Math.max(0, count - needed.length))]);
  return sorted.filter((row) => kept.has(row));
}
