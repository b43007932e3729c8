/**
 * The strip under a tree: always the step under way. While candidates form, what the heads (or the draft, after each
 * node) thought likely; then the gates in the order tried, and what the last token was drawn from; at the end the cache.
 */
import { Binder, button, el, icon, setVars } from './dom.js';
import { badge, gatePicture } from './marks.js';
import { formatMillionths } from './numbers.js';
import { pathPieces } from './nodeparts.js';
import { pathTokens } from './nodefacts.js';
import { judgesByChoice, ruleOf } from './rule.js';
import { finalContext, treeOf } from './shape.js';
import { tokenPiece } from './tokens.js';
import { distributionAt, exactZeros, overrideAt, siblingsOf, topRows } from './trace.js';
import { cacheStrips } from './treecache.js';

const LIKELY = 5;
const CARDS = 12; // of contexts; more would only be scrolled past

export class TreeLens {
  constructor(scene, index) {
    this.scene = scene;
    this.index = index;
    this.round = scene.trace.rounds[index];
    this.marks = scene.timeline.rounds[index];
    this.tree = treeOf(this.round);
    this.exact = exactZeros(this.round);
    this.drawn = siblingsOf(scene.trace.config) !== 'fixed';
    this.element = el('div', 'sv-strip');
    this.element.addEventListener('scroll', () => this.hint());
    this.caption = el('span');
    this.title = el('b');
    this.label = el('div', 'sv-label', this.title, this.caption);
    this.binder = new Binder();
    this.shown = null;
  }

  /** Shows what belongs to a view; the same whichever way the cursor came. */
  show(view) {
    const part = this.part(view);
    const key = [part.name, part.level].join();
    if (key !== this.shown) {
      this.shown = key;
      this.binder = new Binder();
      this.element.replaceChildren(...part.cards());
      this.title.textContent = part.title;
      this.caption.textContent = part.caption || '';
      this.hint();
    }
    const now = view.phase === 'gate' ? view.index : null;
    for (const [node, card] of this.gates || []) card.classList.toggle('sv-on', node === now);
  }

  part(view) {
    const { words } = this.scene;
    const text = (key, values) => words.text(key, values);
    if (!this.tree.size && ['ready', 'pass'].includes(view.phase)) return { name: 'plain', title: text('lens_tree'), cards: () => [this.note('lens_hint_plain')] };
    if (view.phase === 'ready') return { name: 'ready', title: text('lens_tree'), cards: () => [this.note(judgesByChoice(this.round) ? 'lens_tree_hint_greedy' : 'lens_tree_hint')] };
    if (view.phase === 'heads' || (view.phase === 'draft' && this.marks.heads != null)) return { name: 'heads', title: text('lens_heads'), caption: text('lens_likeliest'), cards: () => this.heads() };
    if (view.phase === 'draft') return { name: 'level', level: view.index, title: text('lens_level', { i: view.index + 1 }), caption: text(this.drawn ? 'lens_draft' : 'lens_likeliest'), cards: () => this.level(view.index + 1) };
    if (view.phase === 'pass') return { name: 'pass', title: text('lens_tree'), cards: () => [this.note('lens_tree_pass')] };
    if (view.phase === 'cache' || view.phase === 'commit') return { name: 'cache', title: text('lens_cache'), caption: text('lens_cache_what'), cards: () => this.caches() };
    if (!this.tree.size) return { name: 'drawn', title: text('row_lens'), cards: () => this.walk() };
    return { name: 'gates', title: text('lens_walk'), caption: text('lens_walk_order', { n: this.marks.walk.length }), cards: () => this.walk() };
  }

  note(key) {
    return el('p', 'sv-aside', this.scene.words.text(key, { n: this.tree.size + 1 }));
  }

  /** One card a head: heads do not know of each other, so all nodes of a level share one q. */
  heads() {
    const { words } = this.scene;
    this.gates = null;
    if (!this.round.detail) return [this.note('no_detail')];
    return Array.from({ length: this.tree.depth }, (_, i) => {
      const nodes = this.tree.level(i + 1);
      const context = this.round.draft.parents[nodes[0]] + 1;
      const title = el('span', '', words.text('column_head', { i: i + 1 }), el('span', 'sv-caption', words.text('column_position', { i: this.round.start + i })));
      return this.card(title, context, nodes, this.marks.heads, this.marks.levels[i]);
    });
  }

  /** One card a node that is continued in this level. */
  level(depth) {
    this.gates = null;
    const { trace } = this.scene;
    if (!this.round.detail) return [this.note('no_detail')];
    const parents = depth === 1 ? [-1] : this.tree.level(depth - 1).filter((node) => this.tree.children[node + 1].length);
    return parents.slice(0, CARDS).map((parent) => {
      const title = pathPieces(trace, this.index, parent < 0 ? [] : pathTokens(this.round, parent).slice(-3));
      return this.card(title, parent + 1, this.tree.children[parent + 1], this.marks.levels[depth - 1], this.marks.levels[depth - 1]);
    });
  }

  /** The likeliest tokens by q; those that became candidates are filled in, from their step on. */
  card(title, context, nodes, step, chosenStep) {
    const chosen = new Set(nodes.map((node) => this.round.draft.tokens[node]));
    const all = distributionAt(this.round, context) || [];
    const rows = topRows(all, (row) => row.q || 0, LIKELY, chosen.size < LIKELY ? [...chosen] : []);
    const more = [...chosen].filter((id) => !rows.some((row) => row.id === id)).length;
    const most = Math.max(1, ...rows.map((row) => row.q || 0));
    const lines = rows.map((row) => {
      const bar = el('div', 'sv-level', el('i'), chosen.has(row.id) ? this.binder.bind(el('u'), chosenStep) : null);
      return setVars(el('div', '', tokenPiece(this.scene.trace.vocab, row.id), bar, el('b', '', formatMillionths(row.q, this.exact.q))), { v: (row.q || 0) / most });
    });
    return this.binder.bind(el('div', 'sv-thought', el('div', 'sv-thought-title', title), lines, more ? el('span', 'sv-caption', this.scene.words.text('lens_more', { n: more })) : null), step);
  }

  /** The gates in the order tried, then the token that ends the round. */
  walk() {
    const { trace, words } = this.scene;
    const { draft, verdicts, final } = this.round;
    const rule = ruleOf(this.round);
    const greedy = judgesByChoice(this.round);
    this.gates = new Map();
    const cards = this.marks.walk.map((node) => {
      const verdict = verdicts[node];
      const step = this.marks.gate[node];
      const gate = gatePicture(words, verdict, { rule, greedy, mine: overrideAt(trace, this.index, node).u });
      const level = el('small', '', words.text('walk_level', { i: this.tree.depths[node], n: this.tree.ranks[node] + 1 }));
      const card = button('sv-walk-card', () => this.scene.select(node), level, tokenPiece(trace.vocab, draft.tokens[node], 'sv-chip sv-drafted'), this.binder.bind(gate, step), this.binder.bind(badge(words, verdict.status), step));
      this.gates.set(node, this.binder.bind(card, step));
      return card;
    });
    if (final) cards.push(this.outcome());
    return cards;
  }

  outcome() {
    const { trace, words } = this.scene;
    const { token, kind, prob } = this.round.final;
    const context = finalContext(this.round);
    const all = distributionAt(this.round, context);
    const which = all && all.some((row) => row.r !== null) ? 'r' : 'p';
    const rows = all ? topRows(all, (row) => row[which] || 0, LIKELY, [token]) : [];
    const most = Math.max(1, ...rows.map((row) => row[which] || 0));
    const lines = rows.map((row) => {
      const hit = row.id === token;
      return setVars(el('div', hit ? 'sv-hit' : '', tokenPiece(trace.vocab, row.id), el('div', 'sv-level', el('i')), el('b', '', formatMillionths(row[which], this.exact.p)), el('em', '', hit ? icon(kind) : null)), { v: (row[which] || 0) / most });
    });
    const title = el('div', 'sv-thought-title', el('span', '', words.text(judgesByChoice(this.round) ? 'lens_choice' : which === 'r' ? 'lens_left' : 'lens_p_here')), badge(words, kind));
    const node = this.tree.size;
    const card = button('sv-thought sv-outcome sv-' + kind, () => this.scene.select(node), title, lines);
    card.setAttribute('aria-label', words.text(kind) + ' ' + formatMillionths(Math.round(prob * 1e6), true));
    return this.binder.bind(card, this.marks.outcome);
  }

  /** The rows of both caches, before and after the accepted path is kept. */
  caches() {
    this.gates = null;
    return cacheStrips(this.scene, this.binder, this.marks, this.round);
  }

  /** The card of the gate under way is in sight; the list begins with a whole card. */
  follow(view) {
    const list = this.element;
    const card = view.phase === 'gate' ? this.gates && this.gates.get(view.index) : view.phase === 'outcome' ? list.lastElementChild : null;
    this.hint();
    if (list.scrollWidth <= list.clientWidth + 2) return;
    const least = card ? card.offsetLeft + card.offsetWidth - list.clientWidth * (card === list.lastElementChild ? 1 : 0.75) : 0;
    const first = [...list.children].find((one) => one.offsetLeft >= least - 2);
    list.scrollLeft = first ? first.offsetLeft : least;
  }

  /** Shows at its ends that the list goes on there. */
  hint() {
    const { scrollLeft, scrollWidth, clientWidth, classList } = this.element;
    classList.toggle('sv-more-before', scrollLeft > 2);
    classList.toggle('sv-more-after', scrollLeft + clientWidth < scrollWidth - 2);
  }
}
