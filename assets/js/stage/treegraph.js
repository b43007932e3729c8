/**
 * The graph of a candidate tree: a disc for each node, its area the draft's probability, a ring around it the target's;
 * the token beside it, its rank on the edge. What became of a node shows in icon, line and filling.
 */
import { iconPath, svgEl } from './dom.js';
import { pOf } from './nodefacts.js';
import { Places, TREE_HEAD, TREE_LEFT, discRadius, geometryOf, labelOf, plainLayout, ringRadius } from './treegeometry.js';
import { judgesByChoice } from './rule.js';
import { finalContext, treeOf } from './shape.js';
import { tokensBefore } from './trace.js';

const MARK = 0.62; // size of a status icon, of its disc
const LABEL_GAP = 4;
const SLAB_MARGIN = 14; // before the discs of its first column, and at the right
const TINY = 3.2; // a dotted circle smaller than this would be a blot

export class TreeGraph {
  /** @param {Binder} binder  where the parts are bound to their steps */
  constructor(scene, index, binder) {
    this.scene = scene;
    this.round = scene.trace.rounds[index];
    this.marks = scene.timeline.rounds[index];
    this.tree = treeOf(this.round);
    this.end = this.round.final ? finalContext(this.round) : null;
    this.layout = this.round.layout || plainLayout(this.tree, this.end);
    this.binder = binder;
    this.last = tokensBefore(scene.trace, index, 1)[0];
    this.path = new Set(this.round.path);
    this.parts = new Map(); // node -> its elements; -1 the root, the index after the last node the final token
    this.edges = svgEl('g', { class: 'sv-edges' });
    this.dots = svgEl('g', {});
    this.ground = svgEl('rect', { x: 0, y: 0, height: TREE_HEAD - 4 }); // the tree passes under the names
    this.heads = svgEl('g', { class: 'sv-tree-heads' }, this.ground);
    this.slab = this.bind(svgEl('rect', { class: 'sv-tree-slab', rx: 8 }), this.marks.pass);
    this.sweep = this.bind(svgEl('g', { class: 'sv-tree-sweep' }, svgEl('rect', {}), svgEl('line', {})), this.marks.pass);
    this.bus = this.marks.heads == null ? null : this.bind(svgEl('path', { class: 'sv-bus' }), this.marks.heads);
    const layers = [this.slab, this.bus, this.edges, this.dots, this.sweep, this.heads].filter(Boolean);
    this.element = svgEl('svg', { class: 'sv-tree', role: 'group', 'aria-label': scene.words.text('tree') }, ...layers);
    // the shape of such a tree is chosen before the run, only the tokens are new: it can be seen from the beginning
    this.element.classList.toggle('sv-planned', Boolean(scene.trace.config.tree && scene.trace.config.tree.length));
    this.root();
    for (let node = 0; node < this.tree.size; node++) this.node(node);
    if (this.round.final) this.final();
    this.columns();
  }

  bind(node, step) {
    return this.binder.bind(node, step);
  }

  /** What each column is: a level with its position id, which siblings share. */
  columns() {
    const { words } = this.scene;
    this.names = Array.from({ length: this.tree.depth + 2 }, (_, depth) => {
      const title = depth === 0 ? words.text('column_text') : depth <= this.tree.depth ? words.text(this.marks.heads == null ? 'column_level' : 'column_head', { i: depth }) : words.text('column_next');
      const position = words.text('column_position', { i: this.round.start - 1 + depth });
      const lines = [svgEl('text', { class: 'sv-head-name' }, title), svgEl('text', { class: 'sv-head-position', dy: 12 }, position)];
      const name = svgEl('g', {}, ...lines);
      this.heads.append(name);
      return name;
    });
  }

  root() {
    const dot = svgEl('circle', { class: 'sv-root', r: 5.5 });
    const label = svgEl('text', { class: 'sv-node-label' });
    const group = svgEl('g', { class: 'sv-root-node' }, dot, label);
    this.dots.append(group);
    this.parts.set(-1, { group, dot, label, probability: 0.3, token: this.last });
  }

  node(node) {
    const { draft, verdicts } = this.round;
    const { status } = verdicts[node];
    const appears = this.marks.draft[node];
    const settled = this.marks.settled[node];
    const part = this.dot(node, draft.tokens[node], draft.q[node], status, appears, settled);
    const late = judgesByChoice(this.round); // a ring would tell the verdict
    part.ring = this.bind(svgEl('circle', { class: late ? 'sv-ring sv-late' : 'sv-ring' }), late ? settled : this.marks.pass);
    part.p = pOf(this.round, node);
    part.body.after(part.ring);
    part.rank = svgEl('text', { class: 'sv-rank' }, String(this.tree.ranks[node] + 1));
    part.body.append(part.rank);
    part.edge = this.bind(svgEl('path', { class: 'sv-edge' }), appears);
    this.edges.append(part.edge);
    if (status !== 'unreached') {
      part.verdictEdge = this.bind(svgEl('path', { class: 'sv-edge-told sv-' + status, pathLength: 1 }), settled);
      this.edges.append(part.verdictEdge);
    }
  }

  final() {
    const { token, kind, prob } = this.round.final;
    const { outcome } = this.marks;
    const part = this.dot(this.tree.size, token, prob, kind, outcome, outcome);
    part.verdictEdge = this.bind(svgEl('path', { class: 'sv-edge-told sv-' + kind, pathLength: 1 }), outcome);
    this.edges.append(part.verdictEdge);
  }

  /** The parts that a drafted node and the final one share. */
  dot(node, token, probability, status, appears, settled) {
    const disc = svgEl('circle', { class: 'sv-disc' });
    const plate = svgEl('rect', { class: 'sv-plate', rx: 4 });
    const label = svgEl('text', { class: 'sv-node-label' });
    const body = this.bind(svgEl('g', { class: 'sv-body' }, disc, label), appears);
    const mark = this.bind(svgEl('g', { class: 'sv-mark' }, svgEl('circle', {}), svgEl('path', { d: iconPath(status) })), settled);
    const box = svgEl('rect', { class: 'sv-box', rx: 5 });
    const slot = svgEl('circle', { class: 'sv-slot-dot', r: 2 });
    const group = this.bind(svgEl('g', { class: 'sv-node sv-' + status, role: 'button', tabindex: -1 }, slot, box, plate, body, mark), settled); // the plate is part of the verdict
    group.addEventListener('click', () => this.scene.select(node));
    group.addEventListener('keydown', (event) => this.pressed(event, node));
    this.dots.append(group);
    const part = { group, box, body, plate, disc, label, mark, probability, token, status };
    this.parts.set(node, part);
    return part;
  }

  pressed(event, node) {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    this.scene.select(node);
  }

  /** Fits everything into a place of this width and, if it can, height (units); `rows` of the tallest tree of the run. */
  place(width, rows, room) {
    this.geometry = geometryOf(width, rows, this.layout.rows, this.tree.depth, room);
    this.places = new Places(this.tree, this.layout, this.geometry, this.end);
    this.element.classList.toggle('sv-dense', this.geometry.dense);
    for (const [node, part] of this.parts) this.shape(node, part);
    for (const [node, part] of this.parts) this.moveTo(node, part);
    this.names.forEach((name, depth) => {
      name.setAttribute('transform', `translate(${depth ? this.places.geometry.column * depth + TREE_LEFT - this.geometry.radius : 2} 11)`);
    });
    this.background();
    return this.geometry;
  }

  /** Keeps the names of the columns in sight where the picture is scrolled; y in units. */
  holdNames(y) {
    this.heads.setAttribute('transform', `translate(0 ${y})`);
  }

  /** The slab under all nodes, and the sweep through all of them at once. */
  background() {
    const { width, height, column, radius } = this.geometry;
    const x = TREE_LEFT + column - radius - SLAB_MARGIN;
    const box = { x, y: TREE_HEAD - 3, width: width - x - SLAB_MARGIN, height: height - TREE_HEAD + 3 };
    for (const [name, value] of Object.entries(box)) this.slab.setAttribute(name, value);
    this.ground.setAttribute('width', width);
    this.slab.style.setProperty('--h', box.height);
    this.sweep.style.setProperty('--h', box.height);
    this.sweep.setAttribute('transform', `translate(0 ${TREE_HEAD})`);
    if (this.bus) this.bus.setAttribute('d', this.busPath());
    const [rect, line] = this.sweep.childNodes;
    for (const [name, value] of Object.entries({ x: 0, y: -44, width, height: 44 })) rect.setAttribute(name, value);
    for (const [name, value] of Object.entries({ x1: 0, x2: width, y1: 0, y2: 0 })) line.setAttribute(name, value);
  }

  /** From the text's last token to all heads at once: they read the same state. */
  busPath() {
    const root = this.at(-1);
    const y = TREE_HEAD + 1;
    const ends = Array.from({ length: this.tree.depth }, (_, i) => root.x + (i + 1) * this.geometry.column);
    const arrows = ends.map((x) => `M${x} ${y}v9m-4 -4l4 4l4 -4`);
    return `M${root.x} ${root.y - 8}V${y + 8}Q${root.x} ${y} ${root.x + 8} ${y}H${ends.at(-1)}` + arrows.join('');
  }

  /** Sizes, which do not depend on where a node is. */
  shape(node, part) {
    const { geometry } = this;
    const { pieces, width } = labelOf(this.scene.trace.vocab, part.token, geometry);
    part.label.replaceChildren(...pieces.map(({ mark, text }) => svgEl('tspan', mark ? { class: 'sv-dim' } : {}, text)));
    const radius = node < 0 ? 5.5 : discRadius(geometry, part.probability);
    const markRadius = Math.max(radius, geometry.dense ? 5.6 : 7);
    const room = Math.max(geometry.radius, geometry.dense ? 5.6 : 7) + 1; // the same for all, whatever their probabilities
    const left = (node < 0 ? radius : room) + LABEL_GAP;
    part.label.setAttribute('x', left);
    part.label.setAttribute('y', geometry.dense ? 3.8 : 4.2);
    part.tail = left + width + 5;
    part.radius = radius;
    if (node < 0) return;
    part.reach = part.status === 'unreached' ? radius : markRadius;
    const half = Math.min(geometry.row / 2, 11) - 0.4;
    const size = (rect, x, w) => { for (const [name, value] of Object.entries({ x, y: -half, width: w, height: 2 * half })) rect.setAttribute(name, value); };
    size(part.plate, left - 3, width + 6);
    size(part.box, -room - 11, room + left + width + 15);
    part.disc.setAttribute('r', radius);
    part.disc.classList.toggle('sv-tiny', radius < TINY);
    if (part.ring) part.ring.setAttribute('r', ringRadius(geometry, part.p));
    if (part.rank) {
      part.rank.setAttribute('x', -room - 1);
      part.rank.setAttribute('y', -2);
    }
    const [circle, picture] = part.mark.childNodes;
    circle.setAttribute('r', markRadius);
    picture.setAttribute('transform', `scale(${(markRadius * 2 * MARK) / 16}) translate(-8 -8)`);
  }

  moveTo(node, part) {
    const { x, y } = this.places.of(node);
    part.group.setAttribute('transform', `translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})`);
    const { tail } = node < 0 ? part : this.parts.get(this.places.parent(node));
    if (part.edge) part.edge.setAttribute('d', this.places.edge(node, tail, part.radius));
    if (part.verdictEdge) part.verdictEdge.setAttribute('d', this.places.edge(node, tail, part.reach));
  }

  /** A node's place in units, for what follows it. */
  at(node) {
    return this.places.of(node);
  }

  /** Marks a node and the ancestors that it sees. */
  mark(className, node) {
    const line = node === null || node < 0 ? [] : node < this.tree.size ? this.tree.path(node) : [...this.round.path, node];
    for (const [one, { group, edge }] of this.parts) {
      group.classList.toggle(className, one === node);
      group.classList.toggle(className + '-line', line.includes(one) && one !== node);
      if (edge) edge.classList.toggle(className + '-line', line.includes(one));
    }
  }
}
