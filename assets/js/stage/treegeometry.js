/**
 * Where the nodes of a tree are drawn: the layout of the trace in the units of a picture. Pure. One unit is a pixel of
 * 14 px text.
 *
 * @typedef {object} Geometry
 * @property {number} width
 * @property {number} height
 * @property {number} column     from one depth to the next
 * @property {number} top        where the first row begins: a flatter tree stands in the middle
 * @property {number} row        from one row to the next
 * @property {number} radius     of a node with probability 1; the area is in proportion
 * @property {number} characters that a label has room for
 * @property {number} letter     width of one
 * @property {boolean} dense     small letters
 */
import { glyphRuns, lookupToken, spacedBytes } from './tokens.js';

export const UNITS_PER_EM = 14;
export const TREE_HEAD = 34; // the names of the columns
export const TREE_LEFT = 14; // the middle of the root
const TREE_FOOT = 6;
const ROWS_SHARE = { narrow: 280, wide: 340 }; // what the rows of a small tree share
const NARROW_BELOW = 600;
const AROUND = { wide: { above: 214, below: 198 }, narrow: { above: 258, below: 262 } }; // what is said, bar, transport; legend, output, gates
const ROOM_LEAST = 280;
const ROW_HEIGHT = { least: 18, most: 36 };
const COLUMN_WIDTH = { least: 104, most: 210 };
const LABEL_LETTERS = { least: 3, most: 16 };
const LAST_COLUMN = 100; // for the labels of the last column
const LEAST_EDGE = 26; // the least of an edge that is to be seen beside the labels
const DENSE_BELOW = 20; // rows lower than this have smaller letters
const LETTER_WIDTH = { dense: 6.65, wide: 7.25 }; // width of one: 11 and 12 px, monospaced
const EDGE = { near: 0.12, far: 0.8 }; // shares of a window; what is nearer to its ends than that is brought further in
const WIDE_FROM = 0x2e80; // Chinese and other wide scripts

/**
 * Depth columns in node order, for a round without layout.
 * @param {number|null} end   context where the final token hangs; null: there is none
 * @returns {Layout}
 */
export function plainLayout(tree, end) {
  const place = tree.parents.map((_, node) => tree.depths[node]);
  if (end !== null) place.push(end > 0 ? tree.depths[end - 1] + 1 : 1);
  const members = (depth) => place.flatMap((at, node) => (at === depth ? [node] : []));
  const rows = Math.max(1, ...place.map((depth) => members(depth).length));
  const y = place.map((depth, node) => {
    const level = members(depth);
    return ((level.indexOf(node) + 0.5) * rows) / level.length - 0.5;
  });
  return { x: place.slice(0, tree.size), y: y.slice(0, tree.size), root: (rows - 1) / 2, final: end === null ? null : [place.at(-1), y.at(-1)], rows, levels: tree.depth };
}

/**
 * How high the window onto a tree may be where the browser's is so high, and the place so wide, in units: with it the
 * headline, the text, the strip of gates and the transport are to be seen; where that leaves too little, not the strip.
 */
export function roomFor(viewport, width = Infinity) {
  const { above, below } = width < NARROW_BELOW ? AROUND.narrow : AROUND.wide;
  return Math.max(viewport - above - below, Math.min(ROOM_LEAST, viewport - above), ROOM_LEAST / 2);
}

/** How high the picture of a tree with so many rows is. It is no higher than `room`, unless its rows become too low. */
export function boardHeight(rows, width, room = Infinity) {
  const share = Math.min(width < NARROW_BELOW ? ROWS_SHARE.narrow : ROWS_SHARE.wide, room - TREE_HEAD - TREE_FOOT);
  return TREE_HEAD + between(ROW_HEIGHT, share / rows) * rows + TREE_FOOT;
}

/**
 * @param {number} width   of the place, in units
 * @param {number} rows    of the tallest tree of the run, so that all its rounds are as high
 * @param {number} own     of this one
 * @param {number} depth   of this one; a column more is kept for the final token
 * @param {number} room    height of the window onto it
 * @returns {Geometry}
 */
export function geometryOf(width, rows, own, depth, room = Infinity) {
  const columns = depth + 1;
  const column = between(COLUMN_WIDTH, (width - TREE_LEFT - LAST_COLUMN) / columns);
  const height = boardHeight(rows, width, room);
  const row = Math.min(ROW_HEIGHT.most, (height - TREE_HEAD - TREE_FOOT) / own);
  const radius = Math.min(11, row * 0.46);
  const dense = row < DENSE_BELOW;
  const letter = dense ? LETTER_WIDTH.dense : LETTER_WIDTH.wide;
  const characters = between(LABEL_LETTERS, Math.floor((column - 2 * radius - 12 - LEAST_EDGE) / letter));
  return { width: Math.max(width, TREE_LEFT + columns * column + LAST_COLUMN), height, column, row, radius, characters, letter, dense, top: TREE_HEAD + (height - TREE_HEAD - TREE_FOOT - own * row) / 2 };
}

/**
 * Where a window of a size is to be scrolled to, along one axis, so that places are well inside of it: as many of them,
 * from the first on, as there is room for. Where they are so already it stays. Pure.
 */
export function scrollWithin(places, now, size) {
  const [near, far] = [EDGE.near * size, EDGE.far * size];
  let [low, high] = [places[0], places[0]];
  for (const place of places) {
    const [lower, higher] = [Math.min(low, place), Math.max(high, place)];
    if (higher - lower > far - near) break;
    [low, high] = [lower, higher];
  }
  if (low - now >= near && high - now <= far) return now;
  return (low + high - near - far) / 2;
}

function between({ least, most }, x) {
  return Math.max(least, Math.min(most, x));
}

/** Places in units. -1 is the root, the index after the last node the final token's. */
export class Places {
  constructor(tree, layout, geometry, end) {
    this.tree = tree;
    this.layout = layout;
    this.geometry = geometry;
    this.end = end; // context where the final token hangs
  }

  of(node) {
    const { column, row, top } = this.geometry;
    const [depth, line] = this.cell(node);
    return { x: TREE_LEFT + depth * column, y: top + (line + 0.5) * row };
  }

  /** Column and row. */
  cell(node) {
    if (node < 0) return [0, this.layout.root];
    return node < this.tree.size ? [this.layout.x[node], this.layout.y[node]] : this.layout.final;
  }

  parent(node) {
    return node < this.tree.size ? this.tree.parents[node] : this.end - 1;
  }

  /** The edge to a node, from the end of its parent's label to its disc. */
  edge(node, tail, radius) {
    const from = this.of(this.parent(node));
    const to = this.of(node);
    const x1 = to.x - radius - 1;
    const x0 = Math.min(from.x + tail, x1 - LEAST_EDGE / 2);
    const middle = (x0 + x1) / 2;
    return `M${tenth(x0)} ${tenth(from.y)}C${tenth(middle)} ${tenth(from.y)} ${tenth(middle)} ${tenth(to.y)} ${tenth(x1)} ${tenth(to.y)}`;
  }
}

function tenth(x) {
  return Math.round(x * 10) / 10;
}

/** The radius of a disc whose area is in proportion to a probability; the smallest can still be seen. */
export function discRadius(geometry, probability) {
  return Math.max(1.8, geometry.radius * Math.sqrt(probability));
}

/** The radius of a ring; one too small to be a ring is none. */
export function ringRadius(geometry, probability) {
  const radius = geometry.radius * Math.sqrt(probability);
  return radius < 1.2 ? 0 : radius;
}

/**
 * A token as a label: pieces `{mark, text}` cut to the characters that there is room for, and their width in units.
 * @returns {{pieces: {mark: boolean, text: string}[], width: number}}
 */
export function labelOf(vocab, id, { characters, letter }) {
  const { kind, text } = lookupToken(vocab, id);
  const runs = kind === 'bytes' ? [{ mark: true, text: spacedBytes(text) }] : glyphRuns(text);
  const letters = runs.flatMap(({ mark, text: run }) => [...run].map((ch) => ({ mark, text: ch })));
  const shown = letters.length > characters ? [...letters.slice(0, characters - 1), { mark: true, text: '…' }] : letters;
  const width = shown.reduce((sum, { text: ch }) => sum + (ch.codePointAt(0) >= WIDE_FROM ? 1.75 * letter : letter), 0);
  const pieces = [];
  for (const { mark, text: ch } of shown) {
    const last = pieces.at(-1);
    if (last && last.mark === mark) last.text += ch;
    else pieces.push({ mark, text: ch });
  }
  return { pieces, width };
}
