/**
 * The toy lab: p and q over a few words as bars that one drags, the algebra below, and draws beside it. The draws are
 * the engine's, made by the server for these p and q; here they are only counted and shown one after another.
 *
 * @typedef {object} Options
 * @property {string} lang
 * @property {object} strings            the words of the area "proof", without prefix
 * @property {(asked: {id: number, p: number[], q: number[], seed: number}) => void} ondraw   wants draws for p and q
 */
import { button, el, svgEl } from './../stage/dom.js';
import { fillTemplate } from './../stage/numbers.js';
import { table, sentence, masses } from './formula.js';
import { Bars } from './bars.js';
import { curve } from './curve.js';
import { count, distance, put, shownAfter, split } from './algebra.js';

const WAIT = 350; // ms without a change before draws are asked for
const Z = 2.5758; // each interval holds at 99 %, so all five together at 95 % (Bonferroni)

/** Presets; the first is the fixture that the engine's tests use, too. */
export const PRESETS = {
  textbook: { p: [0.3, 0.25, 0.2, 0.15, 0.1], q: [0.1, 0.15, 0.05, 0.3, 0.4] },
  good: { p: [0.44, 0.26, 0.16, 0.09, 0.05], q: [0.38, 0.3, 0.15, 0.12, 0.05] },
  bad: { p: [0.5, 0.24, 0.14, 0.08, 0.04], q: [0.06, 0.1, 0.14, 0.22, 0.48] },
  disjoint: { p: [0.6, 0.4, 0, 0, 0], q: [0, 0, 0.5, 0.3, 0.2] },
  equal: { p: [0.35, 0.25, 0.2, 0.12, 0.08], q: [0.35, 0.25, 0.2, 0.12, 0.08] },
};

export class Lab {
  /** @param {HTMLElement} host @param {Options} options */
  constructor(host, { lang, strings, ondraw }) {
    Object.assign(this, { host, lang, strings, ondraw, seed: 1, asked: 0, word: 0, draws: null, shown: 0, played: 0, playing: false });
    Object.assign(this, structuredClone(PRESETS.textbook));
    this.calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.build();
    this.ask();
  }

  destroy() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.host.replaceChildren();
  }

  /** Another language, or draws that have come. */
  set({ lang, strings, draws }) {
    if (strings) {
      Object.assign(this, { lang, strings });
      const focus = this.host.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      this.build();
      if (focus) this.host.querySelector(`[data-key="${focus}"]`)?.focus();
    }
    if (draws && draws.id === this.asked) {
      Object.assign(this, { draws, played: 0 });
      this.play();
    }
  }

  say(key, values) {
    return fillTemplate(this.strings[key], values);
  }

  get words() {
    return this.say('words').split(' ');
  }

  build() {
    const pick = Object.keys(PRESETS).map((name) => this.command('preset_' + name, 'preset-' + name, () => this.change(structuredClone(PRESETS[name]))));
    this.bars = new Bars(this.words, (who, i) => this.say('bar', { who: this.say(who === 'p' ? 'target' : 'draft'), word: this.words[i] }), {
      onput: (who, i, value) => this.change({ [who]: put(this[who], i, value) }, i),
      onword: (i) => this.select(i),
    });
    this.mass = el('div', 'pf-masses');
    this.formula = el('p', 'pf-sentence');
    this.formula.setAttribute('aria-live', 'polite');
    this.rows = el('div', 'pf-scroll');
    this.rows.tabIndex = 0; // on a small screen the arrows scroll it
    for (const [name, value] of Object.entries({ role: 'group', 'aria-label': this.say('algebra') })) this.rows.setAttribute(name, value);
    this.told = el('p', 'pf-told');
    this.curve = el('div', 'pf-curve');
    this.toggle = this.command('pause', 'toggle', () => (this.playing ? this.pause() : this.play()));
    const again = this.command('again', 'again', () => { this.seed += 1; this.change({}); });
    this.host.replaceChildren(
      el('div', 'pf-line', el('span', 'pf-label', this.say('presets')), ...pick),
      el('div', 'pf-top',
        el('div', 'pf-left', this.legend(), this.bars.node, this.mass),
        el('div', 'pf-right', el('h4', '', this.say('draws')), el('div', 'pf-line', this.toggle, again), this.told, this.curve)),
      el('h4', '', this.say('algebra')), this.formula, this.rows,
    );
    this.paint();
    this.paintDraws();
  }

  legend() {
    const item = (kind, key) => el('li', '', el('i', 'pf-key pf-' + kind), this.say(key));
    return el('ul', 'pf-legend', item('q', 'legend_q'), item('p', 'legend_p'), item('common', 'legend_common'), item('less', 'legend_less'), item('more', 'legend_more'), item('seen', 'legend_dot'));
  }

  command(key, name, onclick) {
    const node = button('pf-button', onclick, this.say(key));
    node.dataset.key = name;
    return node;
  }

  /** p or q or the seed have changed: everything that follows from them at once, new draws a moment later. */
  change(parts, word = this.word) {
    Object.assign(this, parts, { word, draws: null, shown: 0 });
    this.pause();
    this.paint();
    this.paintDraws();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  ask() {
    this.asked += 1;
    this.ondraw({ id: this.asked, p: this.p, q: this.q, seed: this.seed });
  }

  select(i) {
    this.word = i;
    this.paint();
    this.paintDraws();
  }

  paint() {
    const parts = split(this.p, this.q);
    this.bars.paint(this.p, this.q, parts, this.word);
    this.mass.replaceChildren(masses(parts, (key, values) => this.say(key, values)));
    this.formula.replaceChildren(...sentence(this.p, this.q, parts, this.word, this.words, (key, values) => this.say(key, values)));
    this.rows.replaceChildren(table(this.p, this.q, parts, this.word, this.words, (key) => this.say(key), (i) => this.select(i)));
  }

  /** Goes on where it was paused; from the beginning where all are shown. */
  play() {
    if (!this.draws) return;
    const n = this.draws.token.length;
    if (this.shown >= n) this.played = 0;
    const began = performance.now() - 1000 * this.played;
    this.playing = true;
    const step = (now) => {
      this.played = (now - began) / 1000;
      this.shown = this.calm ? n : shownAfter(this.played, n);
      if (this.shown >= n) this.playing = false;
      this.paintDraws();
      if (this.playing) this.frame = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(step);
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    if (this.toggle) this.paintDraws();
  }

  paintDraws() {
    this.toggle.textContent = this.say(this.playing ? 'pause' : 'play');
    const n = this.shown;
    if (!this.draws || !n) {
      this.bars.dots(null);
      this.told.textContent = this.say('no_draws');
      this.curve.replaceChildren(svgEl('svg', { viewBox: '0 0 300 150', 'aria-hidden': 'true' }));
      return;
    }
    const { counts, accepted } = count(this.draws, n, this.words.length);
    this.bars.dots({ counts, n, z: Z });
    const { alpha } = split(this.p, this.q);
    this.told.textContent = this.say('drawn', {
      n: n.toLocaleString(this.lang), tv: distance(counts, n, this.p).toFixed(3), accepted: percent(accepted / n), alpha: percent(alpha),
    });
    this.curve.replaceChildren(curve(this.draws, n, this.word, this.p[this.word], Z, this.say('curve', { word: this.words[this.word] })));
  }
}

function percent(x) {
  return (100 * x).toFixed(1) + ' %';
}
