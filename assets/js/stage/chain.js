/**
 * The board of a chain round: one column a position, one row a stage of its life. Another kind of draft gets another
 * board with the same interface.
 *
 * @typedef {object} Board
 * @property {HTMLElement} element
 * @property {number} round                        index of the round it shows
 * @property {number} positions                    how many positions can be selected
 * @property {(cursor: number) => void} paint      progress only
 * @property {(view: View) => void} show       what is told in words at a view
 * @property {(view: View) => void} follow                   scrolls to what is told
 * @property {(position: number|null, pinned: boolean) => void} highlight
 */
import { cacheStrip } from './cache.js';
import { Binder, button, el, icon, setVars } from './dom.js';
import { Lens } from './lens.js';
import { badge, gatePicture, meter, setMark } from './marks.js';
import { formatMs } from './numbers.js';
import { isSettled } from './timeline.js';
import { tokenName, tokenPiece } from './tokens.js';
import { distributionAt, drafterOf, overrideAt, topRows } from './trace.js';

const ROW = { draft: 1, pass: 2, gate: 3, verdict: 4, out: 5, lens: 6, kvDraft: 7, kvTarget: 8 };
const BONUS_BARS = 9;

/** @implements {Board} */
export class ChainBoard {
  constructor(scene, index) {
    this.scene = scene;
    this.round = index;
    this.data = scene.trace.rounds[index];
    this.marks = scene.timeline.rounds[index];
    this.k = this.data.draft.tokens.length;
    this.positions = this.k + 1;
    this.binder = new Binder();
    this.columns = [];
    this.element = setVars(el('div', 'sv-board' + widthClass(this.k)), { cols: this.positions });
    this.slab();
    this.labels();
    for (let i = 0; i < this.positions; i++) this.column(i);
    this.lens = new Lens(scene, index);
    this.put(this.lens.element, ROW.lens, 1, this.positions);
    this.lensLabel.append(this.lens.caption);
    this.caches();
  }

  bind(node, step) {
    return this.binder.bind(node, step);
  }

  /** Puts a node on the grid; column 0 holds the labels. */
  put(node, row, column, span) {
    this.element.append(setVars(node, span ? { row, col: column, span } : { row, col: column }));
    return node;
  }

  /** The target is one slab under all columns, and its sweep goes through all of them at once. */
  slab() {
    this.put(el('div', 'sv-slab sv-ghost'), ROW.pass, 1, this.positions);
    this.put(this.bind(el('div', 'sv-slab'), this.marks.pass), ROW.pass, 1, this.positions);
    this.put(this.bind(el('div', 'sv-sweep'), this.marks.pass), ROW.draft, 1, this.positions);
  }

  label(row, name, sub, className) {
    const caption = sub ? el('span', '', sub) : null;
    return this.put(el('div', 'sv-label ' + (className || ''), el('b', '', name), caption), row, 0);
  }

  labels() {
    const { words } = this.scene;
    const { times } = this.data;
    const ms = formatMs(times.draft.reduce((a, b) => a + b, 0));
    const drafter = drafterOf(this.scene.trace, this.data);
    const drafting = drafter === 'none' ? words.text('no_draft') : words.text(drafter === 'lookup' ? 'copied_in' : 'steps_in', { n: this.k, ms });
    this.label(ROW.draft, words.text('row_draft'), drafting, 'sv-draft');
    this.label(ROW.pass, words.text('row_target'), words.text('pass_in', { ms: formatMs(times.target) }), 'sv-target');
    this.label(ROW.gate, words.text('row_gate'), words.text('gate_rule'));
    this.label(ROW.verdict, words.text('row_verdict'), null, 'sv-wide-only');
    this.label(ROW.out, words.text('row_out'), words.text('out_sub'), 'sv-wide-only');
    this.lensLabel = this.label(ROW.lens, words.text('row_lens'), null, 'sv-label-lens');
  }

  column(i) {
    const { words } = this.scene;
    const drafted = i < this.k;
    const verdict = this.data.verdicts[i];
    this.columns[i] = this.put(button('sv-column', () => this.scene.select(i)), ROW.draft, i + 1);
    this.put(drafted ? this.draftCell(i, verdict) : this.extraCell(), ROW.draft, i + 1);
    this.put(el('div', 'sv-cell sv-cell-pass', drafted ? this.bind(meter('p', verdict.p, 'p'), this.marks.pass) : this.extraSpark()), ROW.pass, i + 1);
    this.put(el('div', 'sv-cell sv-cell-gate' + (drafted ? '' : ' sv-empty'), drafted ? this.gate(i, verdict) : null), ROW.gate, i + 1);
    this.put(el('div', 'sv-cell sv-cell-verdict', drafted ? this.bind(badge(words, verdict.status), this.marks.settled[i]) : null), ROW.verdict, i + 1);
    this.put(el('div', 'sv-cell sv-cell-out', this.output(i)), ROW.out, i + 1);
  }

  draftCell(i, verdict) {
    const { trace, words } = this.scene;
    const chip = tokenPiece(trace.vocab, this.data.draft.tokens[i], 'sv-chip sv-drafted');
    const mine = overrideAt(trace, this.round, i).token;
    const step = this.marks.draft[i];
    const mark = mine ? this.bind(setMark(words), step) : null;
    const next = i < this.k - 1 ? this.bind(el('i', 'sv-next', '›'), this.marks.draft[i + 1]) : null;
    return el('div', 'sv-cell sv-cell-draft',
      el('small', '', String(i + 1)),
      el('div', 'sv-slot', this.bind(chip, step), this.bind(el('i', 'sv-fate sv-' + verdict.status), this.marks.settled[i]), mark),
      this.bind(meter('q', this.data.draft.q[i], 'q'), step),
      next);
  }

  /** The column of the token that comes on top: nothing is drafted there. */
  extraCell() {
    return el('div', 'sv-cell sv-cell-draft', el('small', '', '+1'), el('div', 'sv-slot sv-extra', icon(this.k ? 'bonus' : 'target')));
  }

  /** The whole of p, small: the pass gives it here too, though no draft asks for it. */
  extraSpark() {
    const rows = distributionAt(this.data, this.k);
    if (!rows) return null;
    const top = topRows(rows, (row) => row.p, BONUS_BARS, []);
    return this.bind(el('div', 'sv-spark', top.map((row) => setVars(el('i'), { v: row.p / top[0].p }))), this.marks.pass);
  }

  gate(i, verdict) {
    const gate = gatePicture(this.scene.words, verdict, overrideAt(this.scene.trace, this.round, i).u);
    return this.bind(gate, this.marks.settled[i]);
  }

  /** What this position gives to the text: an accepted token, the final one, or nothing. */
  output(i) {
    const { vocab } = this.scene.trace;
    const { path, final, draft } = this.data;
    if (i < path.length) return this.bind(tokenPiece(vocab, draft.tokens[i], 'sv-chip sv-accepted'), this.marks.gate[i]);
    if (i > path.length || !final) return null;
    return this.bind(tokenPiece(vocab, final.token, 'sv-chip sv-final sv-' + final.kind), this.marks.outcome);
  }

  caches() {
    const { draft_rows: draftRows, target_rows: targetRows } = this.data;
    // the draft writes a row when it feeds a token, that is in the step that proposes the next one
    const fed = (i) => this.marks.draft[Math.min(i + 1, this.k - 1)];
    const strips = [
      [ROW.kvDraft, { name: 'kv_draft', side: 'draft', rows: draftRows, stepOf: fed }],
      [ROW.kvTarget, { name: 'kv_target', side: 'target', rows: targetRows, stepOf: () => this.marks.pass }],
    ];
    for (const [row, strip] of strips) {
      const { label, cells, note } = cacheStrip(this.scene, this.binder, this.marks, this.data, strip);
      this.put(label, row, 0);
      cells.forEach((cell, i) => this.put(cell, row, i + 1));
      if (note) this.put(note, row, 1, this.positions);
    }
  }

  paint(cursor) {
    this.binder.paint(cursor);
    this.lens.binder.paint(cursor);
  }

  show(view) {
    this.lens.show(view);
    this.columns.forEach((column, i) => column.setAttribute('aria-label', this.columnName(i, view)));
  }

  /** Keeps the column that is spoken of in sight where the board is wider than the page. */
  follow(view) {
    const column = this.columns[view.phase === 'gate' || view.phase === 'draft' ? view.index : this.data.path.length];
    const { scrollWidth, clientWidth } = this.element;
    if (column && scrollWidth > clientWidth + 4 && view.phase !== 'commit') this.element.scrollLeft = column.offsetLeft - clientWidth / 2;
  }

  /** Token and verdict, as far as they are known at a view. */
  columnName(i, view) {
    const { words, trace } = this.scene;
    if (i === this.k) return words.text('column_extra', { i: i + 1 });
    if (view.cursor <= this.marks.draft[i]) return words.text('column_empty', { i: i + 1 });
    const settled = isSettled(this.marks, i, view.cursor);
    const values = { i: i + 1, tok: tokenName(trace.vocab, this.data.draft.tokens[i]) };
    return words.text(settled ? 'column_judged' : 'column_drafted', { ...values, verdict: words.text(this.data.verdicts[i].status) });
  }

  highlight(position, pinned) {
    this.columns.forEach((column, i) => {
      column.classList.toggle('sv-on', i === position);
      column.setAttribute('aria-pressed', String(pinned && i === position));
    });
  }
}

/** Many columns are narrow and short of words; one or two are kept from filling the whole width. */
function widthClass(k) {
  return k > 8 ? ' sv-many' : k < 2 ? ' sv-few' : '';
}

/** The machine before its first round: empty slots, so that nothing jumps when the first tokens come. */
export class EmptyBoard {
  constructor(scene) {
    const { config } = scene.trace;
    const { words } = scene;
    this.round = -1;
    const k = config.method === 'none' ? 0 : Math.min(config.k, 16);
    this.positions = 0;
    this.element = setVars(el('div', 'sv-board sv-waiting' + widthClass(k)), { cols: k + 1 });
    const put = (node, row, col, span) => this.element.append(setVars(node, { row, col, span: span || 1 }));
    put(el('div', 'sv-slab sv-ghost'), ROW.pass, 1, k + 1);
    const names = { draft: 'row_draft', pass: 'row_target', gate: 'row_gate', verdict: 'row_verdict', out: 'row_out', lens: 'row_lens' };
    const tones = { draft: ' sv-draft', pass: ' sv-target', verdict: ' sv-wide-only', out: ' sv-wide-only', lens: ' sv-label-lens' };
    for (const row of Object.keys(names)) put(el('div', 'sv-label' + (tones[row] || ''), el('b', '', words.text(names[row]))), ROW[row], 0);
    for (let i = 0; i <= k; i++) {
      put(el('div', 'sv-cell sv-cell-draft', el('small', '', i < k ? String(i + 1) : '+1'), el('div', 'sv-slot')), ROW.draft, i + 1);
      put(el('div', 'sv-cell sv-cell-gate' + (i < k ? '' : ' sv-empty')), ROW.gate, i + 1);
    }
    put(el('div', 'sv-lens', el('p', 'sv-aside', words.text('lens_hint'))), ROW.lens, 1, k + 1);
  }

  paint() {}

  show() {}

  follow() {}

  highlight() {}
}
