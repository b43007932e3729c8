/** The inspector's part about a node's place in its tree: path, siblings before it, level, position id, cache row. */
import { el, icon } from './dom.js';
import { term } from './explain.js';
import { nodeFacts, pathTokens } from './nodefacts.js';
import { isSettled } from './timeline.js';
import { tokenPiece } from './tokens.js';
import { tokensBefore } from './trace.js';

/** @returns {HTMLElement[]} */
export function nodeParts(scene, round, view, node) {
  const { words, trace, timeline } = scene;
  const marks = timeline.rounds[view.round];
  const facts = nodeFacts(round, node);
  const gathered = view.cursor > marks.cache;
  const line = (key, ...content) => el('div', '', el('dt', '', term(words, 'e_' + key, '', words.text(key))), el('dd', '', ...content));
  return [el('dl', 'sv-facts',
    line('f_path', pathPieces(trace, view.round, pathTokens(round, node))),
    facts.of > 1 ? line('f_siblings', siblingPieces(scene, round, view, facts)) : null,
    line('f_position', String(facts.position), el('span', 'sv-caption', words.text('f_level', { i: facts.level }))),
    line('f_sees', words.text(facts.ancestors ? 'f_sees_whom' : 'f_sees_alone', { n: facts.ancestors, m: round.start })),
    line('f_row', rowText(words, facts, gathered)))];
}

/** A path as running text: the text's last token, then the nodes. */
export function pathPieces(trace, index, ids) {
  const { vocab } = trace;
  const before = tokensBefore(trace, index, 1).map((id) => tokenPiece(vocab, id, 'sv-dim'));
  return el('span', 'sv-path', '…', before, ids.map((id) => tokenPiece(vocab, id)));
}

/** "2nd of 3", and the ones before it with what became of them. */
function siblingPieces(scene, round, view, facts) {
  const { words, trace, timeline } = scene;
  const marks = timeline.rounds[view.round];
  const pieces = facts.before.map((one) => {
    const told = isSettled(marks, one, view.cursor);
    const { status } = round.verdicts[one];
    const piece = tokenPiece(trace.vocab, round.draft.tokens[one], told ? 'sv-inline sv-' + status : 'sv-inline');
    if (told) piece.append(icon(status), el('span', 'sv-hidden', words.text(status)));
    return piece;
  });
  return el('span', '', words.text('f_rank', { i: facts.rank, n: facts.of }), ...(pieces.length ? [words.text('f_after'), ...pieces] : []));
}

function rowText(words, { row, to }, gathered) {
  if (!gathered) return String(row);
  return to === null ? words.text('f_row_dropped', { row }) : words.text(to === row ? 'f_row_stays' : 'f_row_moves', { row, to });
}
