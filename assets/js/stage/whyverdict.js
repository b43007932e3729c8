/** Why a token was accepted or rejected, in one sentence for the inspector. Pure. */
import { formatPair, formatProb, formatRatio } from './numbers.js';
import { gateParts, isOneDraw, passesAlone, ruleOf } from './rule.js';
import { say } from './say.js';
import { finalContext, treeOf } from './shape.js';
import { isGreedyTarget, likelihoodRatio, targetChoice } from './trace.js';

/** @returns {Sentence} */
export function explainDraft(round, tree, position, passed, kind) {
  if (!passed) return say('i_wait');
  const rule = ruleOf(round);
  if (rule === 'typical') return whyTypical(round, position, kind);
  if (tree) return isGreedyTarget(round) ? whyChoiceInTree(round, position, kind) : whyChanceInTree(round, position, kind);
  if (rule === 'block') return whyBlock(round, position, kind);
  return isGreedyTarget(round) ? whyChoice(round, position, kind) : whyChance(round, position, kind);
}

function whyChance(round, position, kind) {
  const verdict = round.verdicts[position];
  const ratio = formatRatio(likelihoodRatio(verdict));
  if (kind === null) return say('i_asked', { a: ratio });
  if (kind === 'unreached') return say(wasCut(round) ? 'i_unreached' : 'i_after_end', { a: ratio });
  if (likelihoodRatio(verdict) >= 1) return say('i_sure', { a: ratio });
  const [a, u] = verdict.u == null ? [ratio, '–'] : formatPair(gateParts(verdict, 'gates').bar, verdict.u);
  return say(kind === 'accepted' ? 'i_accept' : 'i_reject', { a, u });
}

function whyChoice(round, position, kind) {
  if (kind === null) return say('i_greedy_shown'); // a chain's board has shown p already
  if (kind === 'unreached') return say(wasCut(round) ? 'i_greedy_unreached' : 'i_greedy_after_end');
  if (kind === 'accepted') return say('i_greedy_accept');
  const choice = targetChoice(round, position);
  return choice === null ? say('i_greedy_reject_alone') : say('i_greedy_reject', { choice });
}

/** Whether something was rejected; where nothing was, the text just ended. */
function wasCut(round) {
  return round.verdicts.some((v) => v.status === 'rejected');
}

function whyBlock(round, position, kind) {
  const verdict = round.verdicts[position];
  if (kind === null) return say('i_block_asked');
  if (kind === 'unreached') return say('i_greedy_after_end');
  const [a, u] = formatPair(verdict.limit, verdict.u);
  if (passesAlone(verdict, 'block')) return say('i_block_pass', { a, u });
  return say(kind === 'accepted' ? 'i_block_carried' : 'i_block_reject', { a, u });
}

function whyTypical(round, position, kind) {
  const verdict = round.verdicts[position];
  if (kind === null) return say('i_typical_asked', { p: formatProb(verdict.p) });
  if (verdict.limit == null) return say('i_greedy_after_end');
  const [p, a] = formatPair(verdict.p, verdict.limit);
  if (kind !== 'unreached') return say(kind === 'accepted' ? 'i_typical_accept' : 'i_typical_reject', { p, a });
  if (passesAlone(verdict, 'typical') && cameTo(round, position)) return say('i_typical_beside', { p, a });
  return say('i_tree_off_path');
}

/** Whether the walk came to the place where a node was proposed. */
function cameTo(round, node) {
  const parent = treeOf(round).parents[node];
  return parent < 0 || round.path.includes(parent);
}

function whyChoiceInTree(round, node, kind) {
  if (kind === null) return say('i_greedy_asked');
  if (kind === 'unreached') return whyNotReached(round, node);
  if (kind === 'accepted') return say('i_greedy_accept');
  const choice = targetChoice(round, treeOf(round).parents[node] + 1);
  return choice === null ? say('i_greedy_reject_alone') : say('i_greedy_reject', { choice });
}

function whyChanceInTree(round, node, kind) {
  const verdict = round.verdicts[node];
  if (kind === null) return say('i_tree_asked');
  if (kind === 'unreached') return whyNotReached(round, node);
  const { bar, names } = gateParts(verdict, 'gates');
  const [a, u] = formatPair(bar, verdict.u);
  const values = { a, u, p: formatProb(verdict.p), q: formatProb(verdict.q) };
  const how = names[0] === 'p' ? 'fixed_' : 'drawn_';
  return say('i_tree_' + how + kind, values);
}

function whyNotReached(round, node) {
  const tree = treeOf(round);
  const siblings = tree.children[tree.parents[node] + 1];
  if (!cameTo(round, node)) return say('i_tree_off_path');
  const taken = siblings.find((one) => round.verdicts[one].status === 'accepted');
  return taken === undefined ? say('i_greedy_after_end') : say('i_tree_sibling_taken', { tok: round.draft.tokens[taken] });
}

/** The numbers behind the final token; the headline has said the rest. @returns {Sentence} */
export function explainFinal(round, kind) {
  if (isGreedyTarget(round)) return say('i_chance_greedy');
  const r = formatProb(round.final.prob);
  if (kind !== 'recovered') return say('i_chance_' + kind, { r });
  const context = finalContext(round);
  const detail = round.detail && round.detail[context];
  if (!detail || detail.alpha == null || !isOneDraw(round, context)) return say('i_share_recovered', { r });
  return say('i_chance_recovered', { r, m: formatProb(1 - detail.alpha) });
}
