/**
 * The cache strips of a tree: in the upper line the rows that the pass wrote, in their order; in the lower one what is
 * kept, the rows of the accepted path, gathered to follow the text. Each kept row is seen to move; the others are dropped.
 */
import { el, setVars } from './dom.js';
import { term } from './explain.js';
import { draftGatherOf, gatherOf } from './gather.js';
import { tokenName } from './tokens.js';

const NONE = { rows: [], kept: 0 };
const ROOM = 24; // rows up to which each is numbered

/** A strip for each model that has a cache, top to bottom. */
export function cacheStrips(scene, binder, marks, round) {
  const draft = ['skip', 'draft'].includes(scene.trace.config.method) ? draftGatherOf(round) || NONE : null; // its place stays
  const strips = [draft && { name: 'kv_draft', side: 'draft', gather: draft }, { name: 'kv_target', side: 'target', gather: gatherOf(round) }];
  return [el('div', 'sv-caches', strips.filter(Boolean).map((strip) => cacheStripOf(scene, binder, marks, round, strip)))];
}

function cacheStripOf({ words, trace }, binder, marks, round, { name, side, gather }) {
  const text = () => {
    const node = el('i', 'sv-before', round.start > 2 ? '0–' + (round.start - 2) : '0');
    node.title = words.text('kv_before', { n: round.start - 1 });
    return node;
  };
  const label = el('div', 'sv-label-kv sv-' + side, el('b', '', term(words, 'e_' + name + '_tree', '', words.text(name))));
  const lines = ['line_before', 'line_after'].map((key) => el('div', 'sv-cache-line sv-' + side, el('span', '', words.text(key)), text()));
  const { rows } = gather;
  const count = rows.length;
  const numbered = count <= ROOM;
  const titled = (node, told) => (node < 0 ? words.text('kv_root') : tokenName(trace.vocab, round.draft.tokens[node])) + ' · ' + told;
  const cells = rows.map(({ node, row, to }, i) => {
    const cell = el('div', 'sv-kv sv-' + side + (to === null ? ' sv-drop' : ' sv-keep'), numbered ? el('span', '', String(row)) : null);
    cell.title = titled(node, words.text('kv_row', { i: row }));
    return setVars(cell, { at: i });
  });
  const kept = rows.filter(({ to }) => to !== null).map(({ node, row, to }) => {
    const cell = el('div', 'sv-kv sv-gathered sv-' + side, el('span', '', String(to)));
    cell.title = titled(node, words.text(to === row ? 'kv_stays' : 'kv_moves', { i: row, n: to }));
    return setVars(cell, { at: row - rows[0].row, to: to - rows[0].row });
  });
  const strip = el('div', 'sv-gather' + (numbered ? '' : ' sv-fine'), cells, kept);
  return el('div', 'sv-cache', label, el('div', 'sv-cache-lines', lines), setVars(binder.bind(strip, marks.cache), { count: Math.max(1, count) }));
}
