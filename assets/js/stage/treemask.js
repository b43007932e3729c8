/**
 * The tree attention mask: which token of the pass may look at which. One row a token of the pass, one column what it
 * looks at; all see the text before, nobody sees another branch. Rows and columns are named by pointing at them.
 */
import { el, svgEl } from './dom.js';
import { term } from './explain.js';
import { treeOf } from './shape.js';
import { tokensBefore } from './trace.js';
import { UNITS_PER_EM } from './treegeometry.js';

const CELL = { least: 4.8, most: 9.5 }; // units of 14 px text
const SIDE = 314;
const TEXT_CELLS = 2; // columns that stand for all the text before

/** The columns that row i sees, in order; 0 is the root, i + 1 node i. Pure. */
export function seenBy(tree, row) {
  return [0, ...tree.path(row - 1).map((node) => node + 1)];
}

export class TreeMask {
  /**
   * @param {Binder} binder
   * @param {{hover: (node: number|null) => void}} board   told when a row is pointed at
   */
  constructor(scene, index, binder, board) {
    this.scene = scene;
    this.board = board;
    const { words } = scene;
    this.round = scene.trace.rounds[index];
    const marks = scene.timeline.rounds[index];
    this.tree = treeOf(this.round);
    this.last = tokensBefore(scene.trace, index, 1)[0];
    this.count = this.tree.size + 1;
    this.cell = Math.max(CELL.least, Math.min(CELL.most, SIDE / (this.count + TEXT_CELLS + 0.5)));
    const side = this.count * this.cell;
    this.left = (TEXT_CELLS + 0.5) * this.cell;
    const width = this.left + side;
    const rect = (className, x, y, w, h) => svgEl('rect', { class: className, x, y, width: w, height: h });
    this.band = rect('sv-mask-row', 0, 0, width, this.cell);
    this.post = rect('sv-mask-row', 0, 0, this.cell, side);
    const filled = binder.bind(svgEl('g', { class: 'sv-mask-cells' }, rect('sv-mask-text', 0, 0, TEXT_CELLS * this.cell, side), ...this.cells()), marks.pass);
    const kept = this.round.path.map((node) => binder.bind(svgEl('g', { class: 'sv-mask-kept' }, ...this.rowCells(node + 1)), marks.gate[node]));
    const { least } = CELL;
    this.picture = svgEl('svg', { class: 'sv-mask', viewBox: `0 0 ${width} ${side}`, role: 'img', 'aria-label': words.text('mask_name', { n: this.count }) }, rect('sv-mask-ground', 0, 0, width, side), filled, ...kept, this.band, this.post);
    this.picture.style.width = width / UNITS_PER_EM + 'em';
    this.picture.addEventListener('pointermove', (event) => board.hover(this.nodeAt(event)));
    this.picture.addEventListener('pointerleave', () => board.hover(null));
    this.picture.addEventListener('click', (event) => this.clicked(event));
    this.told = el('p', 'sv-mask-told');
    const head = el('div', 'sv-mask-head', el('b', '', term(words, 'e_mask', '', words.text('mask'))), el('span', 'sv-caption', words.text('mask_rule')));
    this.element = el('div', 'sv-mask-place' + (this.cell > least * 1.6 ? '' : ' sv-fine'), head, el('div', 'sv-mask-body', this.picture, this.told));
  }

  cells() {
    return Array.from({ length: this.count }, (_, row) => this.rowCells(row)).flat();
  }

  rowCells(row) {
    const gap = this.cell > 8 ? 1 : 0.5;
    const size = this.cell - gap;
    return seenBy(this.tree, row).map((column) => svgEl('rect', { class: column === row ? 'sv-self' : '', x: this.left + column * this.cell, y: row * this.cell, width: size, height: size }));
  }

  /** The node whose row is under the pointer; null for the root's. */
  nodeAt(event) {
    const box = this.picture.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * this.count);
    return row >= 1 && row < this.count ? row - 1 : null;
  }

  clicked(event) {
    const node = this.nodeAt(event);
    if (node !== null) this.scene.select(node);
  }

  /** @param {number|null} node  whose row and column are marked, in words too */
  show(node, drafted) {
    const inside = node !== null && node >= 0 && node < this.tree.size && drafted;
    this.band.setAttribute('y', inside ? (node + 1) * this.cell : -99);
    this.post.setAttribute('x', inside ? this.left + (node + 1) * this.cell : -99);
    this.told.replaceChildren(...this.sentence(inside ? node : null));
  }

  sentence(node) {
    const { words } = this.scene;
    if (node === null) return words.nodes({ key: 'mask_hint', values: {} });
    const n = this.tree.depths[node] - 1;
    return words.nodes({ key: n === 0 ? 'mask_sees_none' : 'mask_sees', values: { tok: this.round.draft.tokens[node], n, m: this.round.start } });
  }
}
