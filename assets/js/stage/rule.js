/**
 * By which rule a round was judged, and what its gates compare. Pure.
 *
 * gates    accepted when u < min(1, p/q); in a tree p is what the siblings rejected before have left of it
 * block    a chain judged as a whole: accepted up to the last token with u < limit. Lossless
 * typical  accepted when p > limit, without a draw; the longest path counts. Lossy
 */
import { treeOf } from './shape.js';
import { isGreedyTarget, likelihoodRatio } from './trace.js';

/**
 * Read off the round itself, because a forked trace holds rounds of other settings than its own.
 * @returns {'gates'|'block'|'typical'}
 */
export function ruleOf(round) {
  const judged = round.verdicts.filter((v) => v.limit != null && v.status !== 'unreached');
  if (!judged.length) return 'gates';
  return judged.some((v) => v.u != null) ? 'block' : 'typical';
}

/** Whether a drafted token stays exactly when it is the target's one choice: then p is 1 or 0, and tells the verdict. */
export function judgesByChoice(round) {
  return ruleOf(round) === 'gates' && isGreedyTarget(round);
}

/** Whether a trace holds a round whose output does not have the target's distribution. */
export function isLossy(trace) {
  return trace.config.verify === 'typical' || trace.rounds.some((round) => ruleOf(round) === 'typical');
}

/** Whether the target's first choice was asked for, though the text was to be sampled. */
export function isGreedyVerifier(config) {
  return config.verify === 'greedy' && config.temperature > 0;
}

/**
 * What a gate shows: a bar and a mark on it; inside the bar accepts.
 * @returns {{bar: number, mark: number|null, names: [string, string], random: boolean}}
 *   `names` of both: 'p/q', 'p', 'u', or the key of a word; `random`: the mark is a draw
 */
export function gateParts(verdict, rule) {
  const judged = verdict.status !== 'unreached';
  if (rule === 'typical') return { bar: verdict.p, mark: judged ? verdict.limit : null, names: ['p', 'n_limit'], random: false };
  const mark = judged ? verdict.u : null;
  if (rule === 'block' && verdict.limit != null) return { bar: verdict.limit, mark, names: ['n_limit', 'u'], random: true };
  const name = verdict.q === 1 ? 'p' : 'p/q'; // what was sure to be proposed, was proposed with q = 1
  return { bar: Math.min(1, likelihoodRatio(verdict)), mark, names: [name, 'u'], random: true };
}

/**
 * Whether one token was drawn from q in a context and judged by the usual gate: then alpha = sum of min(p, q) is the
 * chance that it stays, and 1 - alpha what is left of p after a rejection.
 */
export function isOneDraw(round, context) {
  const [child, ...others] = treeOf(round).children[context];
  const drawn = child !== undefined && round.verdicts[child].q === round.draft.q[child]; // a tree's fixed children have q = 1
  return drawn && !others.length && ruleOf(round) === 'gates';
}

/** Whether a drafted token passes its own gate, whatever became of it. */
export function passesAlone(verdict, rule) {
  if (rule === 'typical') return verdict.limit != null && verdict.p > verdict.limit;
  if (rule === 'block') return verdict.u != null && verdict.limit != null && verdict.u < verdict.limit;
  return verdict.status === 'accepted';
}

/**
 * The token whose gate tells the fate of each token of a chain under block verification: the first that passes from
 * there on, else the last judged. Null where it was not judged.
 */
export function decidedInBlock(verdicts) {
  const judged = verdicts.flatMap((v, i) => (v.status === 'unreached' ? [] : [i]));
  return verdicts.map((v, i) => {
    if (v.status === 'unreached') return null;
    const passing = judged.find((j) => j >= i && passesAlone(verdicts[j], 'block'));
    return passing === undefined ? judged.at(-1) : passing;
  });
}
