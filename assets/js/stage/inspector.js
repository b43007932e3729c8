/**
 * The inspector: the numbers of one position, in words and as a table. It follows the run until a position is
 * pinned, and never tells more than the run has shown so far.
 */
import { button, el, setVars } from './dom.js';
import { term } from './explain.js';
import { badge, comparisonBar, gatePicture, numberCell, setMark } from './marks.js';
import { formatFixed, formatMillionths, formatPair, formatProb, formatRatio } from './numbers.js';
import { isSettled, REVEAL } from './timeline.js';
import { tokenPiece } from './tokens.js';
import { acceptChance, distributionAt, drafterOf, exactZeros, isOneHot, likelihoodRatio, overrideAt, targetChoice, topRows } from './trace.js';

const TABLE_ROWS = 9;

/**
 * What the inspector speaks of: a position, and what is known there at a view. Pure.
 * `kind` is the status or the final token's kind once it is out; `subject` 'draft' or 'final'.
 */
export function inspected(trace, timeline, view, pinned) {
  if (view.round < 0 || (view.phase === 'ready' && pinned === null)) return null;
  const round = trace.rounds[view.round];
  const marks = timeline.rounds[view.round];
  const k = round.draft.tokens.length;
  const late = ['outcome', 'cache', 'commit'].includes(view.phase);
  const passed = view.cursor >= marks.pass + REVEAL.pass;
  const drawn = round.final !== null && view.cursor >= marks.outcome + REVEAL.outcome;
  let position = pinned;
  if (position === null && late) position = round.path.length - (round.final ? 0 : 1);
  if (position === null) position = view.phase === 'pass' ? 0 : view.index;
  const final = round.final && position === round.path.length && (late && pinned === null ? true : position === k);
  if (final) return { position, subject: 'final', passed, kind: drawn ? round.final.kind : null, drawn };
  if (position >= k) return { position, subject: 'extra', passed, kind: null, drawn };
  const judged = isSettled(marks, position, view.cursor);
  const drafted = view.cursor > marks.draft[position];
  return { position, subject: drafted ? 'draft' : 'hidden', passed, kind: judged ? round.verdicts[position].status : null, drawn };
}

export class Inspector {
  constructor(scene) {
    this.scene = scene;
    this.element = el('aside', 'sv-inspector');
    this.element.setAttribute('aria-label', scene.words.text('inspector'));
  }

  /** @returns {number|null} the position that is spoken of */
  show(view, pinned) {
    const { words, trace, timeline } = this.scene;
    const head = el('div', 'sv-inspector-head', el('b', '', words.text('inspector')));
    if (pinned !== null) head.append(button('sv-link', () => this.scene.select(null), words.text('unpin')));
    const found = inspected(trace, timeline, view, pinned);
    const silent = !found ? 'inspect_empty' : found.subject === 'hidden' ? 'inspect_hidden' : null;
    const body = silent ? [el('p', 'sv-muted', words.text(silent))] : this.body(view, found);
    this.element.replaceChildren(head, ...body);
    return found ? found.position : null;
  }

  body(view, found) {
    const round = this.scene.trace.rounds[view.round];
    const parts = found.subject === 'draft' ? this.aboutDraft(round, view, found) : this.aboutFinal(round, view, found);
    return [...parts, ...this.table(round, found)];
  }

  heading(token, className, kind, extra) {
    const chip = token === null ? el('span', 'sv-slot', '+1') : tokenPiece(this.scene.trace.vocab, token, 'sv-chip ' + className);
    const { words } = this.scene;
    const verdict = kind ? term(words, kind === 'target' ? 'e_fromtarget' : 'e_' + kind, '', badge(words, kind)) : null;
    return el('div', 'sv-subject', chip, verdict, extra);
  }

  aboutDraft(round, view, { position, passed, kind }) {
    const { words, trace } = this.scene;
    const verdict = round.verdicts[position];
    const mine = overrideAt(trace, view.round, position);
    const judged = kind === 'accepted' || kind === 'rejected';
    const [, u] = judged && verdict.u != null ? formatPair(acceptChance(verdict), verdict.u) : [null, '–'];
    const greedy = isOneHot(round);
    const number = (name, key, text, className) => el('div', className, el('span', '', term(words, key, '', name)), el('b', '', text));
    const parts = [
      this.heading(round.draft.tokens[position], 'sv-' + (kind || 'drafted'), kind, mine.token ? setMark(words) : null),
      el('div', 'sv-numbers',
        number(words.text('n_q'), 'e_q', formatProb(verdict.q), 'sv-q'),
        number(words.text('n_p'), 'e_p', passed ? formatProb(verdict.p) : '–', 'sv-p'),
        greedy ? null : number('p/q', 'e_ratio', passed ? formatRatio(likelihoodRatio(verdict)) : '–', ''),
        greedy ? null : number('u', 'e_u', u, '')),
    ];
    if (judged && verdict.u != null) parts.push(setVars(gatePicture(words, verdict, mine.u, greedy), { t: 1 }));
    parts.push(el('p', 'sv-words', words.nodes(this.explainDraft(round, view, position, passed, kind))));
    if (judged && mine.u && !greedy) parts.push(el('p', 'sv-words', words.text('s_set_u')));
    if (drafterOf(trace, round) === 'lookup') parts.push(el('p', 'sv-muted', words.text('lens_lookup')));
    return parts;
  }

  /** Why this token was accepted or rejected. @returns {Sentence} */
  explainDraft(round, view, position, passed, kind) {
    const verdict = round.verdicts[position];
    if (!passed) return { key: 'i_wait', values: {} };
    const ratio = formatRatio(likelihoodRatio(verdict));
    const greedy = isOneHot(round);
    if (kind === null) return { key: greedy ? 'i_greedy_asked' : 'i_asked', values: { a: ratio } };
    const cut = round.verdicts.some((v) => v.status === 'rejected');
    if (kind === 'unreached' && greedy) return { key: cut ? 'i_greedy_unreached' : 'i_greedy_after_end', values: {} };
    if (kind === 'unreached') return { key: cut ? 'i_unreached' : 'i_after_end', values: { a: ratio } };
    if (greedy) {
      const choice = targetChoice(round, position);
      if (kind === 'accepted') return { key: 'i_greedy_accept', values: {} };
      return choice === null ? { key: 'i_greedy_reject_alone', values: {} } : { key: 'i_greedy_reject', values: { choice } };
    }
    if (likelihoodRatio(verdict) >= 1) return { key: 'i_sure', values: { a: ratio } };
    const [a, u] = verdict.u == null ? [ratio, '–'] : formatPair(acceptChance(verdict), verdict.u);
    return { key: kind === 'accepted' ? 'i_accept' : 'i_reject', values: { a, u } };
  }

  aboutFinal(round, view, { subject, kind }) {
    const { words } = this.scene;
    if (subject === 'extra') return [this.heading(null), el('p', 'sv-words', words.text('i_extra'))];
    if (!kind) return [this.heading(null), el('p', 'sv-words', words.text('i_not_drawn'))];
    return [this.heading(round.final.token, 'sv-' + kind, kind), el('p', 'sv-words', words.nodes(this.explainFinal(round, kind)))];
  }

  /** The numbers behind the final token; the headline has said the rest. @returns {Sentence} */
  explainFinal(round, kind) {
    if (isOneHot(round)) return { key: 'i_chance_greedy', values: {} };
    const r = formatProb(round.final.prob);
    const detail = round.detail && round.detail[round.path.length];
    if (kind !== 'recovered' || !detail || detail.alpha == null) return { key: kind === 'recovered' ? 'i_share_recovered' : 'i_chance_' + kind, values: { r } };
    return { key: 'i_chance_recovered', values: { r, m: formatProb(1 - detail.alpha) } };
  }

  /** p and q of the likeliest tokens here, min(p, q) shaded; in the light of the leftover once it was drawn from. */
  table(round, { position, subject, passed, kind, drawn }) {
    const { words, trace } = this.scene;
    const all = distributionAt(round, position);
    if (!all) return [el('p', 'sv-muted', words.text('no_detail'))];
    const hasQ = all.some((row) => row.q !== null);
    if (!passed && !hasQ) return [];
    const shown = all.map((row) => ({ id: row.id, p: passed ? row.p : null, q: row.q }));
    const drafted = round.draft.tokens[position];
    const result = drawn && position === round.path.length ? round.final.token : null;
    const hit = subject === 'final' && kind ? round.final.token : subject === 'draft' ? drafted : null;
    const must = [drafted, result].filter((id) => id != null);
    const weight = (row) => Math.max(row.p || 0, row.q || 0);
    const rows = topRows(shown, weight, TABLE_ROWS, must);
    const most = Math.max(50000, ...rows.map(weight));
    const exact = exactZeros(trace, round);
    const head = el('div', 'sv-table-head', el('span', '', words.text('token')), el('span'), el('span', 'sv-q', 'q'), el('span', 'sv-p', 'p'));
    const lines = rows.map((row) => el('div', row.id === hit ? 'sv-hit' : '',
      tokenPiece(trace.vocab, row.id),
      comparisonBar(row.p, row.q, most),
      numberCell('span', 'sv-q', formatMillionths(row.q, exact.q)),
      numberCell('span', 'sv-p', formatMillionths(row.p, exact.p))));
    const leftover = kind === 'recovered' && subject === 'final';
    const table = el('div', 'sv-table' + (leftover ? ' sv-leftover' : ''), head, lines);
    return passed && hasQ ? [table, this.legend(leftover), ...(exact.p ? [] : this.measures(round.detail[position]))] : [table];
  }

  legend(leftover) {
    const entry = (className, key) => el('span', className, this.scene.words.text(key));
    return el('div', 'sv-legend' + (leftover ? ' sv-leftover' : ''), entry('sv-common', 'legend_common'), entry('sv-above', 'legend_more'), entry('sv-below', 'legend_less'));
  }

  measures(detail) {
    const { words } = this.scene;
    const [hp, hq] = detail.entropy;
    const alpha = detail.alpha == null ? null : el('p', 'sv-muted', term(words, 'e_alpha', '', words.text('alpha_here', { a: formatProb(detail.alpha) })));
    return [alpha, el('p', 'sv-muted', term(words, 'e_entropy', '', words.text('entropies', { p: formatFixed(hp, 2), q: formatFixed(hq, 2) })))].filter(Boolean);
  }
}
