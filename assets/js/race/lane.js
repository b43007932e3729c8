/** A lane on the track: its name, its speed of the moment, its rounds over time, and the text it has written. */
import { el, setVars, svgEl } from './../stage/dom.js';
import { runningToken } from './../stage/tokens.js';
import { courseOf, laneAt, stripPaths } from './clock.js';

export class LaneView {
  /**
   * @param {{prefill: number, rounds: RaceRound[]}} lane
   * @param {{name: string, kind: string, vocab: object, all: number, word: (key: string, values?: object) => string}} options
   */
  constructor(lane, { name, kind, vocab, all, word }) {
    this.word = word;
    this.course = courseOf(lane.rounds);
    this.all = all;
    this.shown = -1;
    this.speed = el('b', 'sr-speed');
    this.count = el('span', 'sr-count');
    this.mark = el('span', 'sr-mark');
    const prefill = el('span', 'sr-prefill', word('lane_prefill', { ms: Math.round(lane.prefill) }));
    const head = el('header', 'sr-lane-head', el('h3', '', name), this.speed, this.count, this.mark, prefill);
    this.strip = this.drawStrip(lane.rounds);
    this.pieces = this.written(lane.rounds, vocab);
    this.text = el('div', 'sr-text', this.pieces);
    this.text.tabIndex = 0;
    this.text.setAttribute('role', 'region');
    this.text.setAttribute('aria-label', name);
    this.element = el('section', 'sr-lane sr-' + kind, head, this.strip, this.text);
  }

  drawStrip(rounds) {
    const paths = stripPaths(rounds, this.all);
    const picture = svgEl('svg', { viewBox: '0 0 1000 18', preserveAspectRatio: 'none', class: 'sr-strip', role: 'img' });
    picture.setAttribute('aria-label', this.word('strip', { n: rounds.length }));
    for (const [kind, d] of Object.entries(paths)) picture.append(svgEl('path', { d, class: 'sr-part-' + kind }));
    return el('div', 'sr-road', picture, el('i', 'sr-head'));
  }

  /** All tokens, in order; which of them are there already is the moment's business. */
  written(rounds, vocab) {
    const pending = [];
    return rounds.flatMap(({ tokens, accepted }) => tokens.map((id, i) => runningToken(vocab, id, i < accepted ? 'sr-accepted' : 'sr-own', pending)));
  }

  /** The moment `ms`. */
  paint(ms) {
    const { tokens, elapsed, done, speed } = laneAt(this.course, ms);
    setVars(this.strip, { t: (Math.min(elapsed, this.all) / this.all).toFixed(4) });
    this.speed.textContent = this.word('tokens_per_second', { x: speed === null ? '–' : speed.toFixed(1) });
    if (tokens !== this.shown || done !== this.done) this.write(tokens, done);
  }

  write(tokens, done) {
    this.pieces.forEach((piece, i) => (piece.hidden = i >= tokens));
    this.shown = tokens;
    this.done = done;
    this.count.textContent = this.word('tokens_of', { n: tokens, all: this.course.tokens });
    this.mark.textContent = done ? this.word('lane_done', { s: (this.course.total / 1000).toFixed(2) }) : '';
    this.element.classList.toggle('sr-done', done);
    this.text.scrollTop = this.text.scrollHeight;
  }
}
