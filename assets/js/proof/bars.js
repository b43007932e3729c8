/** p and q of every word as two bars, in the parts that verification makes of them. The bars are sliders. */
import { button, el, setVars } from './../stage/dom.js';
import { wilson } from './algebra.js';

const BY_KEY = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 };

export class Bars {
  /**
   * @param {string[]} words
   * @param {(who: 'p'|'q', i: number) => string} label
   * @param {{onput: (who: 'p'|'q', i: number, value: number) => void, onword: (i: number) => void}} hooks
   */
  constructor(words, label, { onput, onword }) {
    this.onput = onput;
    this.sliders = { p: [], q: [] };
    this.marks = [];
    this.columns = words.map((word, i) => {
      for (const who of ['q', 'p']) this.sliders[who].push(this.slider(who, i, label(who, i)));
      const mark = el('span', 'pf-mark', el('i', 'pf-whisker'), el('i', 'pf-dot'));
      mark.hidden = true;
      this.marks.push(mark);
      const name = button('pf-word', () => onword(i), word);
      name.dataset.key = 'word-' + i;
      return el('div', 'pf-column', el('div', 'pf-pair', this.sliders.q[i], this.sliders.p[i], mark), name);
    });
    this.node = el('div', 'pf-bars', el('div', 'pf-scale', ...[1, 0.75, 0.5, 0.25, 0].map((x) => setVars(el('span', '', String(x)), { y: x }))), ...this.columns);
  }

  slider(who, i, label) {
    const node = el('div', 'pf-slider pf-' + who, el('b', 'pf-value'), el('i', 'pf-part pf-rest'), el('i', 'pf-part pf-common'));
    Object.assign(node.dataset, { key: who + '-' + i });
    node.tabIndex = 0;
    for (const [name, value] of Object.entries({ role: 'slider', 'aria-label': label, 'aria-orientation': 'vertical', 'aria-valuemin': '0', 'aria-valuemax': '1' })) {
      node.setAttribute(name, value);
    }
    const at = (event) => {
      const { bottom, height } = node.getBoundingClientRect();
      return Math.round(100 * ((bottom - event.clientY) / height)) / 100;
    };
    node.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return; // the context menu's
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      this.onput(who, i, at(event));
    });
    node.addEventListener('pointermove', (event) => {
      if (node.hasPointerCapture(event.pointerId)) this.onput(who, i, at(event));
    });
    node.addEventListener('keydown', (event) => {
      const now = Number(node.dataset.value);
      const wanted = event.key === 'Home' ? 0 : event.key === 'End' ? 1 : event.key in BY_KEY ? now + BY_KEY[event.key] : null;
      if (wanted === null || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.onput(who, i, Math.round(1000 * wanted) / 1000);
    });
    return node;
  }

  paint(p, q, { common }, word) {
    for (const [who, values] of Object.entries({ p, q })) {
      values.forEach((value, i) => {
        const node = this.sliders[who][i];
        node.dataset.value = String(value);
        node.setAttribute('aria-valuenow', value.toFixed(3));
        setVars(node, { common: common[i], rest: value - common[i], whole: value });
        node.firstChild.textContent = value.toFixed(2).replace(/^0/, '');
      });
    }
    this.columns.forEach((column, i) => {
      column.classList.toggle('pf-on', i === word);
      column.lastChild.setAttribute('aria-pressed', String(i === word));
    });
  }

  /** Frequencies with their intervals beside the bars of p; null: none yet. */
  dots(drawn) {
    this.marks.forEach((mark, i) => {
      mark.hidden = drawn === null;
      if (drawn === null) return;
      const [low, high] = wilson(drawn.counts[i], drawn.n, drawn.z);
      setVars(mark, { low, high, at: drawn.counts[i] / drawn.n });
    });
  }
}
