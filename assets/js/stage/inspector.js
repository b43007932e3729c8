/**
 * The inspector: the numbers of one position, in words and as a table. It follows the run until a position is
 * pinned, and never tells more than the run has shown so far.
 */
import { button, el, setVars } from './dom.js';
import { term } from './explain.js';
import { inspected } from './inspected.js';
import { badge, comparisonBar, gatePicture, numberCell, pairBar, setMark } from './marks.js';
import { pText } from './nodefacts.js';
import { nodeParts } from './nodeparts.js';
import { formatFixed, formatMillionths, formatPair, formatProb, formatRatio } from './numbers.js';
import { isOneDraw, ruleOf } from './rule.js';
import { finalContext } from './shape.js';
import { tokenPiece } from './tokens.js';
import { distributionAt, drafterOf, drawsTree, exactZeros, isGreedyTarget, likelihoodRatio, overrideAt, topRows } from './trace.js';
import { explainDraft, explainFinal } from './whyverdict.js';

const TABLE_ROWS = 9;

const HELP = { block: 'e_limit_block', typical: 'e_limit_typical' };

export class Inspector {
  constructor(scene) {
    this.scene = scene;
    this.lead = el('div', 'sv-lead'); // what a board puts beside itself
    this.told = el('div', 'sv-told-node');
    this.width = 0; // of the stage, for which it keeps its height
    this.element = el('aside', 'sv-inspector', this.lead, this.told);
    this.element.setAttribute('aria-label', scene.words.text('inspector'));
  }

  /** @param {HTMLElement|null} node  what stands above the numbers while its board is shown */
  setLead(node) {
    this.lead.replaceChildren(...(node ? [node] : []));
    this.element.classList.toggle('sv-with-lead', node !== null);
  }

  /** @returns {number|null} the position that is spoken of */
  show(view, pinned) {
    const { words, trace, timeline } = this.scene;
    const head = el('div', 'sv-inspector-head', el('b', '', words.text('inspector')));
    if (pinned !== null) head.append(button('sv-link', () => this.scene.select(null), words.text('unpin'), el('i', 'sv-cross', '×')));
    const found = inspected(trace, timeline, view, pinned);
    const silent = !found ? 'inspect_empty' : found.subject === 'hidden' ? 'inspect_hidden' : null;
    const body = silent ? [el('p', 'sv-muted', words.text(silent))] : this.body(view, found);
    this.told.replaceChildren(head, ...body);
    this.told.style.minHeight = this.told.offsetHeight + 'px'; // it grows, but never shrinks: what stands below keeps its place
    return found ? found.position : null;
  }

  /** The stage has a width: with another one the height is found anew. */
  fit(width) {
    if (width !== this.width) this.told.style.minHeight = '';
    this.width = width;
  }

  body(view, found) {
    const round = this.scene.trace.rounds[view.round];
    const parts = found.subject !== 'draft' ? this.aboutFinal(round, found) : drawsTree(this.scene.trace, round) ? this.aboutNode(round, view, found) : this.aboutDraft(round, view, found);
    return [...parts, ...this.table(round, found)];
  }

  heading(token, className, kind, extra) {
    const chip = token === null ? el('span', 'sv-slot', '+1') : tokenPiece(this.scene.trace.vocab, token, 'sv-chip ' + className);
    const { words } = this.scene;
    const verdict = kind ? term(words, kind === 'target' ? 'e_fromtarget' : 'e_' + kind, '', badge(words, kind)) : null;
    return el('div', 'sv-subject', chip, verdict, extra);
  }

  /** A number with its name, which explains itself. */
  number(name, key, text, className) {
    const { words } = this.scene;
    return el('div', className, el('span', '', term(words, key, '', name)), numberCell('b', '', text));
  }

  aboutDraft(round, view, { position, passed, kind, judged }) {
    const { words, trace } = this.scene;
    const verdict = round.verdicts[position];
    const mine = overrideAt(trace, view.round, position);
    const rule = ruleOf(round);
    const greedy = rule === 'gates' && isGreedyTarget(round);
    const ratio = () => this.number('p/q', 'e_ratio', passed ? formatRatio(likelihoodRatio(verdict)) : '–', '');
    const parts = [
      this.heading(round.draft.tokens[position], 'sv-' + (kind || 'drafted'), kind, mine.token ? setMark(words) : null),
      el('div', 'sv-numbers',
        this.number(words.text('n_q'), 'e_q', formatProb(verdict.q), 'sv-q'),
        this.number(words.text('n_p'), 'e_p', passed ? formatProb(verdict.p) : '–', 'sv-p'),
        greedy ? null : rule === 'gates' ? ratio() : this.number(words.text('n_limit'), HELP[rule], judged ? formatProb(verdict.limit) : '–', ''),
        greedy || rule === 'typical' ? null : this.number('u', 'e_u', this.drawOf(verdict, judged), '')),
      ...this.verdictParts(round, view, { position, passed, kind, judged }),
    ];
    if (drafterOf(trace, round) === 'lookup') parts.push(el('p', 'sv-muted', words.text('lens_lookup')));
    return parts;
  }

  /** The draw u, with digits enough to tell it from what it is compared with. */
  drawOf(verdict, judged) {
    return judged && verdict.u != null ? formatPair(verdict.limit ?? Math.min(1, likelihoodRatio(verdict)), verdict.u)[1] : '–';
  }

  /** The gate, and why it decided so. */
  verdictParts(round, view, { position, passed, kind, judged }) {
    const { words, trace } = this.scene;
    const verdict = round.verdicts[position];
    const rule = ruleOf(round);
    const greedy = rule === 'gates' && isGreedyTarget(round);
    const mine = overrideAt(trace, view.round, position).u;
    const parts = [];
    if (judged && (verdict.u != null || verdict.limit != null)) parts.push(setVars(gatePicture(words, verdict, { rule, greedy, mine }), { t: 1 }));
    parts.push(el('p', 'sv-words', words.nodes(explainDraft(round, drawsTree(trace, round), position, passed, kind))));
    if (judged && mine && !greedy) parts.push(el('p', 'sv-words', words.text('s_set_u')));
    return parts;
  }

  /** A node of a tree: the chance that it had at its turn, and where it stands. */
  aboutNode(round, view, found) {
    const { words, trace } = this.scene;
    const { position, open, kind, judged } = found;
    const { draft, verdicts } = round;
    const verdict = verdicts[position];
    const rule = ruleOf(round);
    const greedy = rule === 'gates' && isGreedyTarget(round);
    const chance = rule === 'typical' ? verdict.limit : Math.min(1, likelihoodRatio(verdict));
    const mine = overrideAt(trace, view.round, position).token ? setMark(words) : null;
    return [
      this.heading(draft.tokens[position], 'sv-' + (kind || 'drafted'), kind, mine),
      el('div', 'sv-numbers',
        this.number(words.text('n_q'), 'e_q', formatProb(draft.q[position]), 'sv-q'),
        this.number(words.text('n_p'), 'e_p_context', open ? pText(round, position) : '–', 'sv-p'),
        greedy ? null : this.number(words.text(rule === 'typical' ? 'n_limit' : 'n_chance'), rule === 'typical' ? 'e_limit_typical' : 'e_chance', judged ? formatProb(chance) : '–', ''),
        greedy || rule === 'typical' ? null : this.number('u', 'e_u', this.drawOf(verdict, judged), '')),
      ...this.verdictParts(round, view, found),
      ...nodeParts(this.scene, round, view, position),
    ];
  }

  aboutFinal(round, { subject, kind }) {
    const { words } = this.scene;
    if (subject === 'extra') return [this.heading(null), el('p', 'sv-words', words.text('i_extra'))];
    if (!kind) return [this.heading(null), el('p', 'sv-words', words.text('i_not_drawn'))];
    return [this.heading(round.final.token, 'sv-' + kind, kind), el('p', 'sv-words', words.nodes(explainFinal(round, kind)))];
  }

  /** p and q of the likeliest tokens here, min(p, q) shaded; in the light of the leftover once it was drawn from. */
  table(round, { position, context, subject, open, kind, drawn }) {
    const { words, trace } = this.scene;
    const all = distributionAt(round, context);
    if (!all) return [el('p', 'sv-muted', words.text('no_detail'))];
    const hasQ = all.some((row) => row.q !== null);
    if (!open && !hasQ) return [];
    const shown = all.map((row) => ({ id: row.id, p: open ? row.p : null, q: row.q }));
    const drafted = drawsTree(trace, round) && subject === 'final' ? null : round.draft.tokens[position];
    const result = drawn && context === finalContext(round) ? round.final.token : null;
    const hit = subject === 'final' && kind ? round.final.token : subject === 'draft' ? drafted : null;
    const must = [drafted, result].filter((id) => id != null);
    const weight = (row) => Math.max(row.p || 0, row.q || 0);
    const rows = topRows(shown, weight, TABLE_ROWS, must);
    const most = Math.max(50000, ...rows.map(weight));
    const exact = exactZeros(round);
    const single = isOneDraw(round, context); // only then min(p, q) is what gets accepted, and p - q what is left
    const bar = single || !hasQ || !open ? comparisonBar : pairBar;
    const head = el('div', 'sv-table-head', el('span', '', words.text('token')), el('span'), el('span', 'sv-q', 'q'), el('span', 'sv-p', 'p'));
    const lines = rows.map((row) => el('div', row.id === hit ? 'sv-hit' : '',
      tokenPiece(trace.vocab, row.id),
      bar(row.p, row.q, most),
      numberCell('span', 'sv-q', formatMillionths(row.q, exact.q)),
      numberCell('span', 'sv-p', formatMillionths(row.p, exact.p))));
    const leftover = single && kind === 'recovered' && subject === 'final';
    const table = el('div', 'sv-table' + (leftover ? ' sv-leftover' : ''), head, lines);
    return open && hasQ ? [table, ...(single ? [this.legend(leftover)] : []), ...(exact.p ? [] : this.measures(round, context))] : [table];
  }

  legend(leftover) {
    const entry = (className, key) => el('span', className, this.scene.words.text(key));
    return el('div', 'sv-legend' + (leftover ? ' sv-leftover' : ''), entry('sv-common', 'legend_common'), entry('sv-above', 'legend_more'), entry('sv-below', 'legend_less'));
  }

  measures(round, context) {
    const { words } = this.scene;
    const detail = round.detail[context];
    const [hp, hq] = detail.entropy;
    const alpha = detail.alpha == null || !isOneDraw(round, context) ? null : el('p', 'sv-muted', term(words, 'e_alpha', '', words.text('alpha_here', { a: formatProb(detail.alpha) })));
    return [alpha, el('p', 'sv-muted', term(words, 'e_entropy', '', words.text('entropies', { p: formatFixed(hp, 2), q: formatFixed(hq, 2) })))].filter(Boolean);
  }
}
