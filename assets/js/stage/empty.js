/** The machine before its first round: empty slots, so that nothing jumps when the first tokens come. */
import { el, setVars } from './dom.js';
import { ROW, boardElement, rowLabels } from './rows.js';
import { boardShape, isPlain, isTreeConfig } from './trace.js';
import { UNITS_PER_EM, boardHeight } from './treegeometry.js';
import { mostRows } from './treesize.js';

/** @implements {Board} */
export class EmptyBoard {
  constructor(scene) {
    this.round = -1;
    this.positions = 0;
    this.columnCount = 0;
    this.element = isTreeConfig(scene.trace.config) ? this.tree(scene) : this.chain(scene);
    this.element.classList.add('sv-waiting');
  }

  /** As high as the trees to come, where their shape is known. */
  tree({ words, trace, host }) {
    const ground = el('div', 'sv-tree-window sv-ghost');
    ground.style.height = boardHeight(mostRows(trace), host.clientWidth) / UNITS_PER_EM + 'em';
    const bar = el('div', 'sv-tree-bar', el('b', '', words.text('tree')));
    return el('div', 'sv-tree-board', bar, ground, el('p', 'sv-aside', words.text('lens_tree_hint')));
  }

  chain(scene) {
    const { words, trace } = scene;
    const shape = boardShape(trace);
    this.columnCount = shape.columns;
    const k = shape.columns - 1;
    const board = boardElement(shape, shape.columns);
    const put = (node, row, col, span) => board.append(setVars(node, { row, col, span: span || 1 }));
    put(el('div', 'sv-slab sv-ghost'), ROW.pass, 1, k + 1);
    const { method, temperature, verify } = trace.config;
    const kind = { drafter: method, greedy: temperature === 0 || verify === 'greedy', rule: verify };
    for (const [row, label] of rowLabels(words, shape, kind, { draft: [words.text('q_spelled')], pass: [words.text('p_spelled')] })) put(label, ROW[row], 0);
    for (let i = 0; i <= k && shape.gates; i++) {
      put(el('div', 'sv-cell sv-cell-draft', el('small', '', i < k ? String(i + 1) : '+1'), el('div', 'sv-slot')), ROW.draft, i + 1);
      if (i < k) put(el('div', 'sv-cell sv-cell-gate'), ROW.gate, i + 1);
    }
    put(el('div', 'sv-lens', el('p', 'sv-aside', words.text(isPlain(trace) ? 'lens_hint_plain' : 'lens_hint'))), ROW.lens, 1, k + 1);
    return board;
  }

  paint() {}

  show() {}

  follow() {}

  highlight() {}

  reveal() {}
}
