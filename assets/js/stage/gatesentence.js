/** What is said at a gate of a chain: it asks first and tells later, in the words of the rule that decides. Pure. */
import { formatPair, formatProb, formatRatio } from './numbers.js';
import { passesAlone, ruleOf } from './rule.js';
import { say } from './say.js';
import { acceptChance, drafterOf, isGreedyTarget, likelihoodRatio, overrideAt, targetChoice } from './trace.js';

/** @returns {Sentence[]} */
export function sayGate(trace, round, view) {
  const rule = ruleOf(round);
  if (rule === 'typical') return [sayTypical(round, view)];
  const verdict = round.verdicts[view.index];
  const greedy = rule === 'gates' && isGreedyTarget(round); // then u decides nothing
  const sentence = rule === 'block' ? sayBlock(round, view) : greedy ? sayGreedy(round, view) : saySampled(trace, round, view);
  const mine = !greedy && view.revealed && verdict.u != null && overrideAt(trace, view.round, view.index).u;
  return mine ? [sentence, say('s_set_u')] : [sentence];
}

function sayGreedy(round, view) {
  const i = view.index;
  const values = { tok: round.draft.tokens[i], choice: targetChoice(round, i) };
  if (!view.revealed) return say('s_greedy_ask', values);
  if (round.verdicts[i].status === 'accepted') return say('s_greedy_accept', values);
  if (values.choice === null) return say('s_greedy_reject_alone', values);
  return say(i === round.draft.tokens.length - 1 ? 's_greedy_reject_last' : 's_greedy_reject', values);
}

function saySampled(trace, round, view) {
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

/** A block is judged token by token, but it stays up to the last that passes. */
function sayBlock(round, view) {
  const i = view.index;
  const verdict = round.verdicts[i];
  const [a, u] = formatPair(verdict.limit, verdict.u);
  const values = { tok: round.draft.tokens[i], a, u };
  if (!view.revealed) return say('s_block_ask', values);
  const earlier = round.verdicts.slice(0, i);
  if (passesAlone(verdict, 'block')) {
    const carried = earlier.length && !passesAlone(earlier.at(-1), 'block');
    return say(carried ? 's_block_carry' : 's_block_pass', values);
  }
  if (round.verdicts.slice(i + 1).some((v) => v.status !== 'unreached')) return say('s_block_fail', values);
  const n = round.path.length;
  return say(n ? 's_block_end' : 's_block_end_none', { ...values, n });
}

/** Typical acceptance, in a chain or in a tree. */
export function sayTypical(round, view) {
  const verdict = round.verdicts[view.index];
  const [p, a] = formatPair(verdict.p, verdict.limit);
  const values = { tok: round.draft.tokens[view.index], p, a };
  if (!view.revealed) return say('s_typical_ask', values);
  return say(verdict.status === 'accepted' ? 's_typical_accept' : 's_typical_reject', values);
}
