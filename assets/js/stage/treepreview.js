/**
 * The board of an edited tree that no run has drafted yet: its shape alone, without any number. Nodes that the round on
 * the board has in the same place show their token there; the new ones are dashed and filled.
 *
 * @typedef {object} Preview         see `preview` in specviz/ui/tree_edit.py
 * @property {number|null} round     the round that `same` speaks of
 * @property {number[][]} choices    ranks of each node, from the root on
 * @property {number[]} parents
 * @property {Layout} layout
 * @property {(number|null)[]} same  the node of that round in the same place
 */
import { button, el, svgEl } from './dom.js';
import { Tree } from './shape.js';
import { tokensBefore } from './trace.js';
import { Places, TREE_LEFT, geometryOf, labelOf } from './treegeometry.js';
import { TreeView } from './treeview.js';

/** How many nodes an edited tree has, has more, and has less than the round's. Pure. */
export function changesOf({ same }, size) {
  const kept = same.filter((node) => node !== null).length;
  return { n: same.length, added: same.length - kept, gone: size - kept };
}

/** @implements {Board} */
export class PreviewBoard {
  constructor(scene, index) {
    this.scene = scene;
    this.round = index;
    this.preview = scene.preview;
    this.columnCount = 0;
    this.tree = new Tree(this.preview.parents);
    this.positions = this.tree.size;
    this.drafted = this.preview.round === null ? null : scene.trace.rounds[this.preview.round];
    this.nodes = this.tree.parents.map((_, node) => this.node(node));
    this.root = svgEl('text', { class: 'sv-node-label', x: 9, y: 4 });
    this.rootDot = svgEl('g', {}, svgEl('circle', { class: 'sv-root', r: 5.5 }), this.root);
    this.edges = this.nodes.map((_, node) => svgEl('path', { class: 'sv-edge' + this.kind(node) }));
    this.heads = Array.from({ length: this.tree.depth + 1 }, (_, depth) => svgEl('text', { y: 18, class: 'sv-head-name' }, depth ? scene.words.text('column_level', { i: depth }) : scene.words.text('column_text')));
    this.picture = svgEl('svg', { class: 'sv-tree', role: 'group', 'aria-label': scene.words.text('preview') }, ...this.edges, this.rootDot, ...this.nodes, svgEl('g', { class: 'sv-tree-heads' }, ...this.heads));
    this.view = new TreeView(scene, this.picture);
    this.element = el('div', 'sv-tree-board sv-preview', this.head(), this.view.window);
  }

  /** What is to be seen, that it was not run, and the way back. */
  head() {
    const { words } = this.scene;
    const sign = (kind, key, n) => (n ? el('span', 'sv-sign-' + kind, words.text(key, { n })) : null);
    const { n, added, gone } = changesOf(this.preview, this.drafted ? this.drafted.draft.tokens.length : 0);
    const size = el('span', 'sv-caption', words.text(this.tree.depth === 1 ? 'tree_size_flat' : 'tree_size', { n, k: this.tree.depth }));
    const changes = this.drafted ? [sign('new', 'preview_new', added), sign('gone', 'preview_gone', gone)] : [];
    const back = button('sv-back', () => this.scene.leavePreview(), words.text('preview_back'));
    const title = el('b', 'sv-not-run', words.text('preview'));
    title.setAttribute('role', 'status');
    return el('div', 'sv-tree-bar', title, size, ...changes, back, this.view.tools);
  }

  kind(node) {
    return this.preview.same[node] === null ? ' sv-new' : '';
  }

  node(node) {
    const { words } = this.scene;
    const dot = svgEl('circle', {});
    const label = svgEl('text', { class: 'sv-node-label' });
    const box = svgEl('rect', { class: 'sv-box', rx: 5 });
    const name = words.text('preview_node', { i: this.tree.depths[node], n: this.rank(node) });
    const group = svgEl('g', { class: 'sv-node' + this.kind(node), role: 'button', tabindex: -1, 'aria-label': name }, box, dot, label);
    group.addEventListener('click', () => this.pick(node));
    group.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      this.pick(node);
    });
    return group;
  }

  /** Counted from 1. */
  rank(node) {
    return this.preview.choices[node].at(-1) + 1;
  }

  fit() {
    const size = this.view.resized();
    if (!size) return;
    const { width, room } = size;
    const { layout } = this.preview;
    const geometry = geometryOf(width, layout.rows, layout.rows, this.tree.depth, room);
    const places = new Places(this.tree, layout, geometry, null);
    const radius = Math.min(6, geometry.radius);
    this.picture.classList.toggle('sv-dense', geometry.dense);
    const tails = new Map([[-1, this.place(this.rootDot, this.root, tokensBefore(this.scene.trace, this.preview.round ?? 0, 1)[0], places.of(-1), geometry, radius)]]);
    this.nodes.forEach((group, node) => {
      const same = this.preview.same[node];
      const [box, dot, label] = group.childNodes;
      dot.setAttribute('r', radius);
      label.setAttribute('x', radius + 4);
      label.setAttribute('y', geometry.dense ? 3.8 : 4.2);
      const tail = this.place(group, label, same === null ? null : this.drafted.draft.tokens[same], places.of(node), geometry, radius, this.rank(node));
      const half = Math.min(geometry.row / 2, 11) - 0.4;
      for (const [name, value] of Object.entries({ x: -radius - 4, y: -half, width: tail + radius + 4, height: 2 * half })) box.setAttribute(name, value);
      tails.set(node, tail);
      this.edges[node].setAttribute('d', places.edge(node, tails.get(this.tree.parents[node]), radius));
    });
    this.heads.forEach((head, depth) => head.setAttribute('x', depth ? geometry.column * depth + TREE_LEFT - radius : 8));
    this.view.setNatural(geometry, room);
  }

  /** Puts a node where it belongs. @returns {number} where its label ends, from its middle */
  place(group, label, token, { x, y }, geometry, radius, rank) {
    const { words, trace } = this.scene;
    group.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    if (token === null) {
      label.textContent = words.text('preview_rank', { n: rank });
      return radius + 4 + label.textContent.length * geometry.letter + 5;
    }
    const { pieces, width } = labelOf(trace.vocab, token, geometry);
    label.replaceChildren(...pieces.map(({ mark, text }) => svgEl('tspan', mark ? { class: 'sv-dim' } : {}, text)));
    return radius + 4 + width + 5;
  }

  /** Selects a node: the round's own one where it has it, so that everything follows. */
  pick(node) {
    const { scene, preview } = this;
    if (preview.same[node] !== null) return scene.select(preview.same[node]);
    scene.selection.toggleBranch(this.round, preview.choices[node]);
    return scene.tellAgain();
  }

  pickNeighbour(direction) {
    const from = this.chosen();
    const to = Math.max(0, Math.min(this.positions - 1, from < 0 && direction < 0 ? this.positions - 1 : from + direction));
    return to === from ? undefined : this.pick(to);
  }

  has(branch) {
    return this.preview.choices.some((choice) => choice.join() === branch.join());
  }

  /** Whether a position of the round is still there: a node's place, or the final token's, which no tree has. */
  keeps(position) {
    return this.drafted !== null && (position >= this.drafted.draft.tokens.length || this.preview.same.includes(position));
  }

  /** The index of what is selected; -1: nothing, or what this tree has not got. */
  chosen() {
    const { position, branch } = this.scene.selection;
    if (branch) return this.preview.choices.findIndex((choice) => choice.join() === branch.join());
    return position === null ? -1 : this.preview.same.indexOf(position);
  }

  highlight() {
    const chosen = this.chosen();
    const focused = this.nodes.includes(document.activeElement);
    this.nodes.forEach((group, node) => {
      group.setAttribute('aria-pressed', String(node === chosen));
      group.setAttribute('tabindex', node === Math.max(0, chosen) ? '0' : '-1');
    });
    if (focused && chosen >= 0) this.nodes[chosen].focus({ preventScroll: true });
  }

  zoom(direction) {
    this.view.zoom(direction);
  }

  paint() {}

  show() {}

  follow() {}

  reveal() {}
}
