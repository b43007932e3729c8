/** What is said while a round's draft is a tree. Pure. The commit is said as for a chain, in sentence.js. */
import { headCount } from './draftname.js';
import { sayTypical } from './gatesentence.js';
import { gatherOf } from './gather.js';
import { formatMs, formatPair, formatProb } from './numbers.js';
import { gateParts, ruleOf } from './rule.js';
import { say } from './say.js';
import { finalContext, treeOf } from './shape.js';
import { hasHeads, isGreedyTarget, outputToken, overrideAt, shortage, targetChoice } from './trace.js';

export const TREE_SAYINGS = { ready: sayTreeReady, heads: sayHeads, draft: sayLevel, pass: sayTreePass, gate: sayTreeGate, outcome: sayTreeOutcome, cache: sayGather };

function sayTreeReady(trace, round) {
  const values = { n: round.draft.tokens.length, k: treeOf(round).depth };
  return [say(hasHeads(trace, round) ? 's_tree_ready_heads' : 's_tree_ready', values), ...sayFlat(trace, round)];
}

/** Why the tree is flatter than asked for near the end. */
function sayFlat(trace, round) {
  const left = shortage(trace, round);
  return left === null ? [] : [say('s_tree_short', { n: left, m: left - 1 })];
}

function sayHeads(trace, round) {
  const n = treeOf(round).depth;
  const m = headCount(trace.models.draft);
  const key = m === null ? 's_tree_heads_first' : n < m ? 's_tree_heads_some' : 's_tree_heads';
  return [say(key, { n, m, ms: formatMs(round.times.draft[0]) })];
}

function sayLevel(trace, round, view) {
  const tree = treeOf(round);
  const nodes = tree.level(view.index + 1);
  const values = { i: view.index + 1, k: tree.depth, n: nodes.length };
  const set = nodes.find((node) => overrideAt(trace, view.round, node).token);
  const mine = set === undefined ? [] : [say('s_tree_set', { tok: round.draft.tokens[set] })];
  if (hasHeads(trace, round)) return [say('s_tree_level_heads', values), ...mine, ...sayFlat(trace, round)];
  const ms = round.times.draft[view.index];
  const grown = trace.config.nodes ? 's_tree_level_best' : 's_tree_level'; // grown by confidence, more is guessed than stays
  return [say(ms == null ? 's_tree_level_alone' : grown, { ...values, ms: formatMs(ms) }), ...mine, ...sayFlat(trace, round)];
}

function sayTreePass(trace, round) {
  const values = { n: round.draft.tokens.length, ms: formatMs(round.times.target), b: formatMs(trace.baseline_ms) };
  return [say(trace.baseline_ms ? 's_tree_pass' : 's_tree_pass_alone', values)];
}

function sayTreeGate(trace, round, view) {
  if (ruleOf(round) === 'typical') return [sayTypical(round, view)];
  const greedy = isGreedyTarget(round);
  const sentence = greedy ? sayChoice(round, view) : sayChance(round, view);
  const mine = !greedy && view.revealed && overrideAt(trace, view.round, view.index).u;
  return mine ? [sentence, say('s_set_u')] : [sentence];
}

/** How a verdict goes on: deeper, to the next sibling, or to the end of the path. */
function onward(round, node) {
  const tree = treeOf(round);
  if (round.verdicts[node].status === 'accepted') return tree.children[node + 1].length ? 'accept' : 'accept_leaf';
  return tree.isLast(node) ? 'reject_last' : 'reject';
}

/** Temperature 0: the target has one choice in each context. */
function sayChoice(round, view) {
  const node = view.index;
  const values = { tok: round.draft.tokens[node], choice: targetChoice(round, treeOf(round).parents[node] + 1) };
  if (!view.revealed) return say('s_tree_greedy_ask', values);
  const alone = values.choice === null && round.verdicts[node].status === 'rejected';
  return say(alone ? 's_greedy_reject_alone' : 's_tree_greedy_' + onward(round, node), values);
}

function sayChance(round, view) {
  const node = view.index;
  const verdict = round.verdicts[node];
  const { bar } = gateParts(verdict, 'gates');
  const [a, u] = formatPair(bar, verdict.u);
  const values = { tok: round.draft.tokens[node], a, u, p: formatProb(verdict.p), q: formatProb(verdict.q) };
  if (view.revealed) return say(bar >= 1 ? 's_tree_sure_' + onward(round, node) : 's_tree_' + onward(round, node), values);
  const place = treeOf(round).ranks[node] ? 'next' : 'first';
  return say(verdict.q === 1 ? 's_tree_ask_fixed_' + place : 's_tree_ask_drawn_' + place, values);
}

function sayTreeOutcome(trace, round, view) {
  const { final } = round;
  if (!final) return [say(trace.finish === 'stop' ? 's_ended_stop' : 's_ended', { tok: outputToken(round, round.path.length - 1) })];
  const ask = view.revealed ? '' : '_ask';
  const values = { tok: final.token, r: formatProb(final.prob) };
  const leaf = !treeOf(round).children[finalContext(round)].length;
  if (ruleOf(round) === 'typical') return [say('s_typical_' + (leaf ? 'leaf' : 'final') + ask, values)];
  const greedy = isGreedyTarget(round) ? '_greedy' : '';
  return [say('s_tree_' + (leaf ? 'bonus' : 'recovered') + greedy + ask, values)];
}

function sayGather(trace, round) {
  const { rows, kept } = gatherOf(round);
  const n = rows.length - 1; // the root's row is the text's own
  const a = kept - 1;
  if (a === 0) return [say('s_tree_gather_none', { n })];
  if (a === n) return [say('s_cache_all')];
  const moves = rows.some(({ row, to }) => to !== null && to !== row);
  return [say('s_tree_gather' + (moves ? '' : '_still') + (a === 1 ? '_single' : ''), { n, a, x: n - a })];
}
