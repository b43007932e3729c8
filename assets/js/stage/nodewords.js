/** A node in plain words: its name for screen readers and what its bubble tells, as far as the run has shown it. */
import { pText, pathTokens } from './nodefacts.js';
import { formatPair, formatProb } from './numbers.js';
import { gateParts, judgesByChoice, ruleOf } from './rule.js';
import { tokensBefore } from './trace.js';
import { REVEAL, isSettled } from './timeline.js';
import { runningText, tokenName } from './tokens.js';

/** Token, verdict, q, p. */
export function nodeName(scene, round, view, node) {
  const { words, trace } = scene;
  const known = knownAt(scene, round, view, node);
  if (!known.token) return words.text('node_empty');
  const name = tokenName(trace.vocab, known.token.id);
  return [name, known.kind && words.text(known.kind), ...numbersOf(words, round, node, known)].filter(Boolean).join(', ');
}

/** The path as text, then the numbers; empty while there is nothing to tell. */
export function nodeTip(scene, round, view, node) {
  const { words, trace } = scene;
  const known = knownAt(scene, round, view, node);
  if (!known.token) return '';
  const before = tokensBefore(trace, view.round, 3);
  const path = '…' + runningText(trace.vocab, [...before, ...pathTokens(round, node)]);
  const numbers = numbersOf(words, round, node, known).join('   ');
  return [path, numbers, words.text(known.kind || 'node_drafted')].filter(Boolean).join('\n');
}

/** What is known of a node at a view: its token, p, its verdict. */
function knownAt({ timeline }, round, view, node) {
  const marks = timeline.rounds[view.round];
  if (node === round.draft.tokens.length) {
    const drawn = view.cursor >= marks.outcome + REVEAL.outcome;
    return { token: drawn ? { id: round.final.token } : null, passed: true, kind: drawn ? round.final.kind : null };
  }
  const drafted = view.cursor > marks.draft[node];
  const settled = drafted && isSettled(marks, node, view.cursor);
  const passed = view.cursor >= marks.pass + REVEAL.pass && (settled || !judgesByChoice(round)); // p must not tell the verdict
  return { token: drafted ? { id: round.draft.tokens[node] } : null, passed, kind: settled ? round.verdicts[node].status : null };
}

function numbersOf(words, round, node, { passed, kind }) {
  if (node === round.draft.tokens.length) return [words.text('node_drawn', { r: formatProb(round.final.prob) })];
  const verdict = round.verdicts[node];
  const rule = ruleOf(round);
  const parts = ['q ' + formatProb(round.draft.q[node])];
  if (passed) parts.push('p ' + pText(round, node));
  const judged = kind === 'accepted' || kind === 'rejected';
  if (!judged || judgesByChoice(round)) return parts;
  const { bar, mark } = gateParts(verdict, rule);
  const [a, u] = formatPair(bar, mark);
  return [...parts, ...(rule === 'typical' ? [words.text('n_limit') + ' ' + u] : [words.text('n_chance') + ' ' + a, 'u ' + u])];
}
