/** The KV strips under the board: cell i belongs to the token of column i. Kept, new and rolled-back rows. */
import { el } from './dom.js';
import { term } from './explain.js';

/**
 * One strip: its label with the rows from before the round, and a cell for each drafted token.
 * @param {[number, number, number]|null} rows   before, full, kept; null: the drafter has no cache
 * @param {(i: number) => number} stepOf         step at which cell i is written
 */
export function cacheStrip(scene, board, marks, round, { name, side, rows, stepOf }) {
  const { words } = scene;
  const label = el('div', 'sv-label sv-label-kv sv-' + side, el('b', '', term(words, 'e_' + name, '', words.text(name))));
  if (!rows) return { label, cells: [], note: scene.trace.config.method === 'lookup' ? el('p', 'sv-kv-note', words.text('kv_none')) : null };
  const before = el('i', 'sv-before', round.start > 1 ? '0–' + (round.start - 1) : '0');
  before.title = words.text('kv_before', { n: round.start });
  label.append(before);
  const [, full, kept] = rows;
  const cells = round.draft.tokens.map((_, i) => {
    const position = round.start + i;
    if (position >= full) return el('div', 'sv-cell sv-cell-kv'); // the draft's last token was never fed
    const keep = position < kept;
    const cell = el('div', 'sv-kv sv-' + side + (keep ? ' sv-keep' : ' sv-drop'), el('span', '', String(position)));
    const holder = el('div', 'sv-cell sv-cell-kv', board.bind(cell, stepOf(i)));
    return board.bind(holder, marks.cache);
  });
  return { label, cells, note: null };
}
