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
 * @property {(position: number) => void} reveal             scrolls to a position that was pinned
 * @property {number} columnCount                  columns, at least as many as positions; many need the whole width
 * @property {HTMLElement} [side]                  what it puts beside itself, above the inspector
 * @property {() => void} [fit]                    measures its place, which is on the page or has changed
 * @property {(view: View) => Element[][]} [wanted]  what the page should show at a view, see sight.js
 * @property {(direction: number) => void} [zoom]  in (1), out (-1), all of it (0)
 */
import { cacheStrip } from './cache.js';
import { Binder, button, el, icon, setVars } from './dom.js';
import { Lens } from './lens.js';
import { badge, gatePicture, meter, setMark } from './marks.js';
import { formatMs } from './numbers.js';
import { ROW, boardElement, rowLabels } from './rows.js';
import { ruleOf } from './rule.js';
import { isSettled } from './timeline.js';
import { byteParts, tokenName, tokenPiece } from './tokens.js';
import { boardShape, distributionAt, drafterOf, hasHeads, isGreedyTarget, overrideAt, tokensBefore, topRows } from './trace.js';

const BONUS_BARS = 9;
const CHARACTER_BYTES = 4; // of UTF-8, at most
const GATE_RULES = { gates: 'gate_rule', block: 'gate_rule_block', typical: 'gate_rule_typical' };

/** @implements {Board} */
export class ChainBoard {
  constructor(scene, index) {
    this.scene = scene;
    this.round = index;
    this.data = scene.trace.rounds[index];
    this.marks = scene.timeline.rounds[index];
    this.k = this.data.draft.tokens.length;
    this.positions = this.k + 1;
    this.rule = ruleOf(this.data);
    this.greedy = this.rule === 'gates' && isGreedyTarget(this.data);
    this.binder = new Binder();
    this.columns = [];
    this.shape = boardShape(scene.trace);
    this.columnCount = Math.max(this.shape.columns, this.positions);
    this.element = boardElement(this.shape, this.columnCount);
    this.slab();
    this.labels();
    this.names = this.draftNames();
    for (let i = 0; i < this.positions; i++) this.column(i);
    if (this.shape.gates && !this.k) this.put(el('p', 'sv-aside sv-nothing', scene.words.text('gate_none')), ROW.gate, 2, Math.max(1, this.columnCount - 1));
    this.lens = new Lens(scene, index, this.columnCount);
    this.put(this.lens.element, ROW.lens, 1, this.columnCount);
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

  /** Titles of the drafted tokens; a fragment of a character says of which, once the drafts make it whole. */
  draftNames() {
    const { trace, words } = this.scene;
    const before = tokensBefore(trace, this.round, CHARACTER_BYTES - 1);
    const parts = byteParts(trace.vocab, [...before, ...this.data.draft.tokens]).slice(before.length);
    return this.data.draft.tokens.map((id, i) => {
      const name = tokenName(trace.vocab, id);
      return parts[i] ? words.text('byte_part', { bytes: name, ...parts[i] }) : name;
    });
  }

  labels() {
    const { words } = this.scene;
    const { times } = this.data;
    const ms = formatMs(times.draft.reduce((a, b) => a + b, 0));
    const drafter = drafterOf(this.scene.trace, this.data);
    const heads = drafter === 'model' && hasHeads(this.scene.trace, this.data);
    const [key, n] = drafter === 'lookup' ? ['copied_in', this.k] : heads ? ['heads_in', this.k] : ['steps_in', times.draft.length];
    const drafting = drafter === 'none' ? words.text('no_draft') : words.text(key, { n, ms });
    const { greedy } = this;
    const subs = {
      draft: [words.text('q_spelled'), drafting],
      pass: [words.text('p_spelled'), words.text('pass_in', { ms: formatMs(times.target) })],
      gate: [words.text(greedy ? 'gate_rule_greedy' : GATE_RULES[this.rule])],
      out: [words.text('out_sub')],
    };
    const labels = rowLabels(words, this.shape, { drafter: heads ? 'medusa' : drafter, greedy, rule: this.rule }, subs);
    for (const [row, label] of labels) this.put(label, ROW[row], 0);
    this.lensLabel = labels.get('lens');
  }

  column(i) {
    const { words } = this.scene;
    const drafted = i < this.k;
    const { gates } = this.shape;
    const verdict = this.data.verdicts[i];
    this.columns[i] = this.put(button('sv-column', () => this.scene.select(i)), ROW.draft, i + 1);
    if (gates) this.put(drafted ? this.draftCell(i, verdict) : this.extraCell(), ROW.draft, i + 1);
    this.put(el('div', 'sv-cell sv-cell-pass', drafted ? this.bind(meter('p', verdict.p, 'p'), this.marks.pass) : this.extraSpark()), ROW.pass, i + 1);
    if (drafted) this.put(el('div', 'sv-cell sv-cell-gate', this.gate(i, verdict)), ROW.gate, i + 1);
    if (drafted) this.put(el('div', 'sv-cell sv-cell-verdict', this.bind(badge(words, verdict.status), this.marks.settled[i])), ROW.verdict, i + 1);
    const recovered = i === this.data.path.length && i < this.k && this.data.final !== null; // a rejected draft stands there
    this.put(el('div', 'sv-cell sv-cell-out' + (recovered ? ' sv-beside' : ''), this.output(i)), ROW.out, i + 1);
  }

  draftCell(i, verdict) {
    const { trace, words } = this.scene;
    const chip = tokenPiece(trace.vocab, this.data.draft.tokens[i], 'sv-chip sv-drafted');
    chip.title = this.names[i] + ' · ' + this.data.draft.tokens[i];
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
    const { rule, greedy } = this;
    const gate = gatePicture(this.scene.words, verdict, { rule, greedy, mine: overrideAt(this.scene.trace, this.round, i).u });
    return this.bind(gate, this.marks.gate[i] ?? this.marks.settled[i]);
  }

  /** What this position gives to the text: an accepted token, the final one, or nothing. */
  output(i) {
    const { vocab } = this.scene.trace;
    const { path, final, draft } = this.data;
    if (i < path.length) return this.bind(tokenPiece(vocab, draft.tokens[i], 'sv-chip sv-accepted'), this.marks.settled[i]);
    if (i > path.length || !final) return null;
    return this.bind(tokenPiece(vocab, final.token, 'sv-chip sv-final sv-' + final.kind), this.marks.outcome);
  }

  caches() {
    const { draft_rows: draftRows, target_rows: targetRows } = this.data;
    // the draft writes a row when it feeds a token, that is in the step that proposes the next one
    const fed = (i) => this.marks.draft[Math.min(i + 1, this.k - 1)];
    const strips = [
      this.shape.draftCache && [ROW.kvDraft, { name: 'kv_draft', side: 'draft', rows: draftRows, stepOf: fed }],
      [ROW.kvTarget, { name: 'kv_target', side: 'target', rows: targetRows, stepOf: () => this.marks.pass }],
    ];
    for (const [row, strip] of strips.filter(Boolean)) {
      const { label, cells, note } = cacheStrip(this.scene, this.binder, this.marks, this.data, strip);
      this.put(label, row, 0);
      cells.forEach((cell, i) => this.put(cell, row, i + 1));
      if (note) this.put(note, row, 1, this.columnCount);
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
    const { words } = this.scene;
    if (i === this.k) return words.text('column_extra', { i: i + 1 });
    if (view.cursor <= this.marks.draft[i]) return words.text('column_empty', { i: i + 1 });
    const settled = isSettled(this.marks, i, view.cursor);
    const values = { i: i + 1, tok: this.names[i] };
    return words.text(settled ? 'column_judged' : 'column_drafted', { ...values, verdict: words.text(this.data.verdicts[i].status) });
  }

  /** Brings a position into sight, as far as it must. */
  reveal(position) {
    const cell = this.columns[position];
    if (cell) cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  highlight(position, pinned) {
    this.columns.forEach((column, i) => {
      column.classList.toggle('sv-on', i === position);
      column.setAttribute('aria-pressed', String(pinned && i === position));
    });
  }
}
