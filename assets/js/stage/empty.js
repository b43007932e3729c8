/** The machine before its first round: empty slots, so that nothing jumps when the first tokens come. */
import { el, setVars } from './dom.js';
import { ROW, boardElement, rowLabels } from './rows.js';
import { boardShape, isPlain } from './trace.js';

/** @implements {Board} */
export class EmptyBoard {
  constructor(scene) {
    const { words, trace } = scene;
    this.round = -1;
    this.positions = 0;
    const shape = boardShape(trace);
    this.columnCount = shape.columns;
    const k = shape.columns - 1;
    this.element = boardElement(shape, shape.columns);
    this.element.classList.add('sv-waiting');
    const put = (node, row, col, span) => this.element.append(setVars(node, { row, col, span: span || 1 }));
    put(el('div', 'sv-slab sv-ghost'), ROW.pass, 1, k + 1);
    const kind = { greedy: trace.config.temperature === 0, copied: trace.config.method === 'lookup' };
    for (const [row, label] of rowLabels(words, shape, kind, { draft: [words.text('q_spelled')], pass: [words.text('p_spelled')] })) put(label, ROW[row], 0);
    for (let i = 0; i <= k && shape.gates; i++) {
      put(el('div', 'sv-cell sv-cell-draft', el('small', '', i < k ? String(i + 1) : '+1'), el('div', 'sv-slot')), ROW.draft, i + 1);
      if (i < k) put(el('div', 'sv-cell sv-cell-gate'), ROW.gate, i + 1);
    }
    put(el('div', 'sv-lens', el('p', 'sv-aside', words.text(isPlain(trace) ? 'lens_hint_plain' : 'lens_hint'))), ROW.lens, 1, k + 1);
  }

  paint() {}

  show() {}

  follow() {}

  highlight() {}

  reveal() {}
}
