/**
 * The board of a round whose draft is a tree: the graph, what is written to the text, the step under way.
 * Beside it, above the inspector, the attention mask. The final token has the position after the last node.
 */
import { Binder, el, icon } from './dom.js';
import { term } from './explain.js';
import { formatMs } from './numbers.js';
import { badge } from './marks.js';
import { nodeName, nodeTip } from './nodewords.js';
import { treeOf } from './shape.js';
import { tokenPiece } from './tokens.js';
import { TreeGraph } from './treegraph.js';
import { TreeLens } from './treelens.js';
import { TreeMask } from './treemask.js';
import { TreeView } from './treeview.js';
import { hasHeads } from './trace.js';
import { mostRows } from './treesize.js';

/** @implements {Board} */
export class TreeBoard {
  constructor(scene, index) {
    this.scene = scene;
    this.round = index;
    this.data = scene.trace.rounds[index];
    this.marks = scene.timeline.rounds[index];
    this.tree = treeOf(this.data);
    this.positions = this.tree.size + (this.data.final ? 1 : 0);
    this.columnCount = 0; // it has none that could need the whole width
    this.binder = new Binder();
    this.told = null; // what is spoken of
    this.pointed = null; // what is pointed at
    this.graph = new TreeGraph(scene, index, this.binder);
    this.view = new TreeView(scene, this.graph.element);
    this.mask = new TreeMask(scene, index, this.binder, { hover: (node) => this.hover(node) });
    this.side = this.mask.element;
    this.lens = new TreeLens(scene, index);
    this.element = el('div', 'sv-tree-board', this.head(), this.view.window, this.legend(), this.table());
    this.listen();
  }

  head() {
    const { words } = this.scene;
    const { times } = this.data;
    const size = el('span', 'sv-caption', words.text(!this.tree.size ? 'no_draft' : this.tree.depth === 1 ? 'tree_size_flat' : 'tree_size', { n: this.tree.size, k: this.tree.depth }));
    const more = this.note() || el('span', 'sv-caption sv-wide-only', words.text('pass_in', { ms: formatMs(times.target) }));
    return el('div', 'sv-tree-bar', el('b', '', term(words, 'e_tree', '', words.text('tree'))), size, more, this.view.tools);
  }

  /** Of heads: why the same guesses stand in so many places. */
  note() {
    const { words, trace } = this.scene;
    if (this.tree.depth < 2 || !hasHeads(trace, this.data)) return null;
    return el('span', 'sv-caption sv-tree-note', term(words, 'e_heads_blind', '', words.text('heads_blind')));
  }

  /** What the signs mean, so that none of them has to be guessed. */
  legend() {
    const { words } = this.scene;
    const sign = (className, key) => el('span', 'sv-sign-' + className, words.text(key));
    const path = el('span', 'sv-badge sv-accepted', el('i', '', icon('accepted')), el('span', '', words.text('legend_path')));
    const final = this.data.final ? [badge(words, this.data.final.kind)] : [];
    const last = final.map((node) => this.binder.bind(node, this.marks.outcome));
    return el('div', 'sv-tree-legend', sign('q', 'legend_q'), sign('p', 'legend_p'), sign('rank', 'legend_rank'), path, badge(words, 'rejected'), badge(words, 'unreached'), last);
  }

  table() {
    const { words } = this.scene;
    const output = el('div', 'sv-label', el('b', '', term(words, 'e_out', '', words.text('row_out'))));
    return el('div', 'sv-tree-table', output, this.output(), this.lens.label, this.lens.element);
  }

  /** What this round gives to the text, as it becomes known. */
  output() {
    const { vocab } = this.scene.trace;
    const { path, draft, final } = this.data;
    const pieces = path.map((node) => this.binder.bind(tokenPiece(vocab, draft.tokens[node], 'sv-chip sv-accepted'), this.marks.gate[node]));
    if (final) pieces.push(this.binder.bind(tokenPiece(vocab, final.token, 'sv-chip sv-final sv-' + final.kind), this.marks.outcome));
    return el('div', 'sv-tree-output', pieces);
  }

  listen() {
    this.view.window.addEventListener('scroll', () => this.graph.holdNames(this.view.top()));
    for (const [node, { group }] of this.graph.parts) {
      if (node < 0) continue;
      group.addEventListener('pointerenter', () => this.hover(node));
      group.addEventListener('pointerleave', () => this.hover(null));
      group.addEventListener('focus', () => this.hover(node));
      group.addEventListener('blur', () => this.hover(null));
    }
  }

  /** Lights up a node, its ancestors and its row of the mask. */
  hover(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    this.graph.mark('sv-hot', node);
    this.showMask();
  }

  showMask() {
    const node = this.pointed ?? this.told;
    this.mask.show(node, node !== null && node < this.tree.size && this.cursor > this.marks.draft[node]);
  }

  /** The place has another width; called when it is on the page, and whenever the page changes. */
  fit() {
    const size = this.view.resized();
    if (!size) return;
    const { width, room } = size;
    this.width = width;
    this.view.setNatural(this.graph.place(width, mostRows(this.scene.trace), room), room);
    if (this.lastView) this.follow(this.lastView);
  }

  paint(cursor) {
    this.cursor = cursor;
    this.binder.paint(cursor);
    this.lens.binder.paint(cursor);
  }

  show(view) {
    this.lens.show(view);
    for (const [node, { group }] of this.graph.parts) {
      if (node < 0) continue;
      group.setAttribute('aria-label', nodeName(this.scene, this.data, view, node));
      group.dataset.explain = nodeTip(this.scene, this.data, view, node);
      group.classList.toggle('sv-absent', !group.dataset.explain);
    }
  }

  follow(view) {
    this.lastView = view;
    this.lens.follow(view);
    if (this.width) this.view.follow(this.lineTo(this.spokenOf(view)));
  }

  /** The places from the root to a node, a little inside of each so that its label counts. */
  lineTo(node) {
    const path = node < this.tree.size ? this.tree.path(node) : [...this.data.path, node];
    return [-1, ...path].map((one) => this.graph.at(one)).map(({ x, y }) => ({ x: x + 30, y }));
  }

  /** What the page should show at a view: the most that belongs together first, the least last. */
  wanted({ phase, index }) {
    const { window } = this.view;
    const strip = this.lens.element;
    const all = [this.element.firstElementChild, strip];
    if (phase === 'ready') return [];
    if (phase === 'cache' || phase === 'commit') return [all, [window, strip], [strip]];
    const part = this.graph.parts.get(phase === 'gate' ? index : phase === 'outcome' ? this.tree.size : null);
    return part ? [all, [window, strip], [part.group, strip], [part.group]] : [all, [window, strip], [window]];
  }

  /** The node that a step is about, for keeping it in sight. */
  spokenOf(view) {
    if (['ready', 'heads', 'pass'].includes(view.phase)) return -1; // from the root on
    if (view.phase === 'draft') return this.tree.level(view.index + 1)[0] ?? -1;
    if (view.phase === 'gate') return view.index;
    return this.data.final ? this.tree.size : this.data.path.at(-1) ?? -1;
  }

  highlight(position, pinned) {
    this.told = position;
    const focused = [...this.graph.parts.values()].some(({ group }) => group === document.activeElement);
    for (const [node, { group }] of this.graph.parts) {
      if (node < 0) continue;
      group.classList.toggle('sv-on', node === position);
      group.setAttribute('aria-pressed', String(pinned && node === position));
      group.setAttribute('tabindex', node === (position ?? 0) ? '0' : '-1'); // the arrow keys go from node to node
    }
    this.graph.mark('sv-told', pinned ? position : null);
    if (focused && pinned) this.graph.parts.get(position).group.focus({ preventScroll: true });
    this.showMask();
  }

  reveal(position) {
    const line = this.lineTo(position);
    this.view.follow(line);
    this.view.reveal(line.at(-1).y);
  }

  zoom(direction) {
    this.view.zoom(direction);
  }
}
