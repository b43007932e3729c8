/**
 * The distribution row: always the distributions of the step under way. While drafting the q that the token is drawn
 * from, at the target pass p at all positions at once, at a gate p against q, at the outcome what the final token is
 * drawn from. It sits under the column it speaks of.
 */
import { Binder, el, icon, setVars } from './dom.js';
import { comparisonBar, numberCell, pairBar } from './marks.js';
import { formatMillionths } from './numbers.js';
import { ruleOf } from './rule.js';
import { tokenPiece } from './tokens.js';
import { distributionAt, drafterOf, exactZeros, isPlain, topRows } from './trace.js';

const ROWS = 4;
const SPARK_BARS = 6;

export class Lens {
  /**
   * @param {Scene} scene
   * @param {number} index  round
   * @param {number} columns  of the board
   */
  constructor(scene, index, columns) {
    this.scene = scene;
    this.round = scene.trace.rounds[index];
    this.marks = scene.timeline.rounds[index];
    this.positions = this.round.draft.tokens.length + 1;
    this.columns = columns; // of the board, which can be more
    this.exact = exactZeros(this.round);
    this.element = el('div', 'sv-lens');
    this.caption = el('span');
    this.binder = new Binder();
    this.shown = null;
  }

  /** Shows what belongs to a view. The card is the same whichever way the cursor came. */
  show(view) {
    const phase = view.phase === 'cache' || view.phase === 'commit' ? 'outcome' : view.phase;
    const index = phase === 'outcome' ? this.round.path.length : view.index;
    const told = phase !== 'outcome' || view.phase !== 'outcome' || view.revealed;
    const key = [phase, index, told].join();
    if (key === this.shown) return;
    this.shown = key;
    this.binder = new Binder();
    const { content, caption } = this.card(phase, index, told);
    this.element.className = 'sv-lens sv-lens-' + phase;
    this.element.replaceChildren(content);
    const at = caption && phase !== 'pass' && phase !== 'ready';
    // where the board is turned, the card stands apart and says which position it speaks of
    const placed = at ? this.scene.words.text('lens_at', { i: index + 1, what: caption }) : caption;
    this.caption.replaceChildren(el('i', 'sv-wide-only', caption), el('i', 'sv-narrow-only', placed));
  }

  card(phase, index, told) {
    const { words } = this.scene;
    if (phase === 'ready') return { content: this.note(words.text(isPlain(this.scene.trace) ? 'lens_hint_plain' : 'lens_hint')), caption: '' };
    if (phase === 'outcome' && !this.round.final) return { content: this.note(words.text('lens_ended'), index), caption: '' };
    if (phase === 'draft' && drafterOf(this.scene.trace, this.round) === 'lookup') {
      return { content: this.note(words.text('lens_lookup'), index), caption: words.text('lens_copied') };
    }
    if (!this.round.detail) return { content: this.note(words.text('no_detail'), phase === 'pass' ? null : index), caption: '' };
    if (phase === 'draft') return { content: this.drawn(index, 'q', this.round.draft.tokens[index], this.marks.draft[index]), caption: words.text('lens_draft') };
    if (phase === 'pass') return { content: this.sparks(), caption: words.text('lens_pass', { n: this.positions }) };
    if (phase === 'gate') return { content: this.compared(index), caption: words.text('lens_gate') };
    const { kind, token } = this.round.final;
    return { content: this.drawn(index, kind === 'recovered' ? 'r' : 'p', token, this.marks.outcome, told), caption: words.text(kind === 'recovered' && ruleOf(this.round) === 'block' ? 'lens_recovered_block' : 'lens_' + kind) };
  }

  /** A card under a column; it is wider than a column and stays inside the board. */
  place(card, column) {
    const span = Math.min(this.columns, this.columns > 9 ? 5 : 3);
    const from = Math.max(0, Math.min(this.columns - span, column - (span > 3 ? 2 : 1)));
    return setVars(card, { left: from / this.columns, width: span / this.columns });
  }

  /** A card with its notch under the column, both bound to a step. */
  under(card, column, tone, step) {
    const notch = setVars(el('i', 'sv-notch'), { nose: (column + 0.5) / this.columns });
    return this.binder.bind(el('div', 'sv-under sv-' + tone, notch, this.place(card, column)), step);
  }

  /** Words where there is nothing to draw. */
  note(text, column = null) {
    const card = el('p', 'sv-aside', text);
    return column === null ? card : this.place(card, column);
  }

  /** The distribution that a token is drawn from; the drawn one is filled in once it is out (`told`). */
  drawn(position, which, token, step, told = true) {
    const rows = topRows(distributionAt(this.round, position), (row) => row[which] || 0, ROWS, [token]);
    const most = Math.max(1, ...rows.map((row) => row[which] || 0));
    const kind = which === 'q' ? 'draft' : this.round.final.kind;
    const card = el('div', 'sv-card', rows.map((row) => {
      const hit = told && row.id === token;
      const line = el('div', hit ? 'sv-hit' : '',
        tokenPiece(this.scene.trace.vocab, row.id),
        el('div', 'sv-level', el('i')),
        el('b', '', formatMillionths(row[which], which === 'q' ? this.exact.q : this.exact.p)),
        el('em', '', hit ? icon(which === 'q' ? 'drawn' : kind) : null));
      return setVars(line, { v: (row[which] || 0) / most });
    }));
    return this.under(card, position, kind, step);
  }

  /** p against q at a gate: the three colours of the algebra. */
  compared(position) {
    const token = this.round.draft.tokens[position];
    const rows = topRows(distributionAt(this.round, position), (row) => Math.max(row.p, row.q || 0), ROWS, [token]);
    const most = Math.max(1, ...rows.map((row) => Math.max(row.p, row.q || 0)));
    const bar = ruleOf(this.round) === 'gates' ? comparisonBar : pairBar; // by other rules min(p, q) is not what gets accepted
    const card = el('div', 'sv-card', rows.map((row) => el('div', row.id === token ? 'sv-hit' : '',
      tokenPiece(this.scene.trace.vocab, row.id),
      bar(row.p, row.q, most),
      numberCell('b', 'sv-q', formatMillionths(row.q, this.exact.q)),
      numberCell('b', 'sv-p', formatMillionths(row.p, this.exact.p)))));
    return this.under(card, position, 'compare', this.marks.gate[position]);
  }

  /** p at every position: they all come out of the one pass, together. */
  sparks() {
    const list = el('div', 'sv-sparks');
    for (let i = 0; i < this.positions; i++) {
      const drafted = this.round.draft.tokens[i];
      const rows = topRows(distributionAt(this.round, i), (row) => row.p, SPARK_BARS, []);
      const bars = el('div', 'sv-spark', rows.map((row) => setVars(el('i', row.id === drafted ? 'sv-hit' : ''), { v: row.p / rows[0].p })));
      list.append(el('div', '', bars, rows.length ? tokenPiece(this.scene.trace.vocab, rows[0].id) : null));
    }
    return this.binder.bind(setVars(list, { cols: this.columns }), this.marks.pass);
  }
}
