/**
 * The inspector: the numbers of one position, in words and as a table. It follows the run until a position is
 * pinned, and never tells more than the run has shown so far.
 */
import { button, el, setVars } from './dom.js';
import { badge, comparisonBar, gatePicture, numberCell, setMark } from './marks.js';
import { formatFixed, formatMillionths, formatPair, formatProb, formatRatio } from './numbers.js';
import { sentencesAt } from './sentence.js';
import { isSettled, REVEAL } from './timeline.js';
import { tokenPiece } from './tokens.js';
import { acceptChance, distributionAt, drafterOf, exactZeros, isOneHot, likelihoodRatio, overrideAt, targetChoice, topRows } from './trace.js';

const TABLE_ROWS = 9;

/**
 * What the inspector speaks of: a position, and what is known there at a view. Pure.
 * `kind` is the status or the final token's kind once it is out; `subject` 'draft' or 'final'.
 */
export function inspected(trace, timeline, view, pinned) {
  if (view.round < 0 || view.phase === 'ready') return null;
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
    const body = !found || found.subject === 'hidden' ? [el('p', 'sv-muted', words.text('inspect_empty'))] : this.body(view, found);
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
    return el('div', 'sv-subject', chip, kind ? badge(this.scene.words, kind) : null, extra);
  }

  aboutDraft(round, view, { position, passed, kind }) {
    const { words, trace } = this.scene;
    const verdict = round.verdicts[position];
    const mine = overrideAt(trace, view.round, position);
    const judged = kind === 'accepted' || kind === 'rejected';
    const [, u] = judged && verdict.u != null ? formatPair(acceptChance(verdict), verdict.u) : [null, '–'];
    const number = (name, text, className) => el('div', className, el('span', '', name), el('b', '', text));
    const parts = [
      this.heading(round.draft.tokens[position], 'sv-' + (kind || 'drafted'), kind, mine.token ? setMark(words) : null),
      el('div', 'sv-numbers',
        number('q', formatProb(verdict.q), 'sv-q'),
        number('p', passed ? formatProb(verdict.p) : '–', 'sv-p'),
        number('p/q', passed ? formatRatio(likelihoodRatio(verdict)) : '–', ''),
        number('u', u, '')),
    ];
    if (judged && verdict.u != null) parts.push(setVars(gatePicture(words, verdict, mine.u), { t: 1 }));
    parts.push(el('p', 'sv-words', words.nodes(this.explainDraft(round, view, position, passed, kind))));
    if (judged && mine.u) parts.push(el('p', 'sv-words', words.text('s_set_u')));
    if (drafterOf(trace, round) === 'lookup') parts.push(el('p', 'sv-muted', words.text('lens_lookup')));
    return parts;
  }

  /** Why this token was accepted or rejected. @returns {Sentence} */
  explainDraft(round, view, position, passed, kind) {
    const verdict = round.verdicts[position];
    if (!passed) return { key: 'i_wait', values: {} };
    const ratio = formatRatio(likelihoodRatio(verdict));
    if (kind === null) return { key: 'i_asked', values: { a: ratio } };
    const cut = round.verdicts.some((v) => v.status === 'rejected');
    if (kind === 'unreached') return { key: cut ? 'i_unreached' : 'i_after_end', values: { a: ratio } };
    if (isOneHot(round)) {
      const choice = targetChoice(round, position);
      if (kind === 'accepted') return { key: 'i_greedy_accept', values: {} };
      return choice === null ? { key: 'i_greedy_reject_alone', values: {} } : { key: 'i_greedy_reject', values: { choice } };
    }
    if (likelihoodRatio(verdict) >= 1) return { key: 'i_sure', values: { a: ratio } };
    const [a, u] = verdict.u == null ? [ratio, '–'] : formatPair(acceptChance(verdict), verdict.u);
    return { key: kind === 'accepted' ? 'i_accept' : 'i_reject', values: { a, u } };
  }

  aboutFinal(round, view, { subject, kind }) {
    const { words, trace } = this.scene;
    if (subject === 'extra') return [this.heading(null), el('p', 'sv-words', words.text('i_extra'))];
    if (!kind) return [this.heading(null), el('p', 'sv-words', words.text('i_not_drawn'))];
    const at = { ...view, phase: 'outcome', revealed: true };
    const sentence = words.nodes(sentencesAt(trace, at)[0]);
    const chance = isOneHot(round) ? null : el('p', 'sv-muted', words.text('i_chance_' + kind, { r: formatProb(round.final.prob) }));
    return [this.heading(round.final.token, 'sv-' + kind, kind), el('p', 'sv-words', sentence), chance].filter(Boolean);
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
    return passed && hasQ ? [table, this.legend(), ...(exact.p ? [] : this.measures(round.detail[position]))] : [table];
  }

  legend() {
    const entry = (className, key) => el('span', className, this.scene.words.text(key));
    return el('div', 'sv-legend', entry('sv-common', 'legend_common'), entry('sv-above', 'legend_more'), entry('sv-below', 'legend_less'));
  }

  measures(detail) {
    const { words } = this.scene;
    const [hp, hq] = detail.entropy;
    const alpha = detail.alpha == null ? null : el('p', 'sv-muted', words.text('alpha_here', { a: formatProb(detail.alpha) }));
    return [alpha, el('p', 'sv-muted', words.text('entropies', { p: formatFixed(hp, 2), q: formatFixed(hq, 2) }))].filter(Boolean);
  }
}
