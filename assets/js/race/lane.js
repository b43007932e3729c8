/** A lane on the track: its name, its speed of the moment, its rounds over time, and the text it has written. */
import { el, setVars, svgEl } from './../stage/dom.js';
import { decodeBytes, glyphNodes, lookupToken, tokenName, tokenPiece } from './../stage/tokens.js';
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
    this.pieces = [];
    this.shown = -1;
    this.speed = el('b', 'sr-speed');
    this.count = el('span', 'sr-count');
    this.mark = el('span', 'sr-mark');
    const prefill = el('span', 'sr-prefill', word('lane_prefill', { ms: Math.round(lane.prefill) }));
    const head = el('header', 'sr-lane-head', el('h3', '', name), this.speed, this.count, this.mark, prefill);
    this.strip = this.drawStrip(lane.rounds);
    this.text = el('div', 'sr-text', this.written(lane.rounds, vocab));
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
    let pending = ''; // hexadecimal bytes of a character that is not whole yet
    for (const { tokens, accepted } of rounds) {
      tokens.forEach((id, i) => {
        const { kind, text } = lookupToken(vocab, id);
        const whole = kind === 'bytes' ? decodeBytes(pending + text) : null;
        let piece;
        if (kind === 'special' || kind === 'unknown') piece = tokenPiece(vocab, id);
        else if (kind === 'text') piece = el('span', 'sr-token', glyphNodes(text, true));
        else piece = el('span', 'sr-token', whole === null ? el('i', 'sv-glyph', '·') : el('bdi', '', whole));
        pending = kind === 'bytes' && whole === null ? pending + text : '';
        for (const mark of piece.querySelectorAll('.sv-glyph')) if (mark.textContent === '↵') mark.after('\n');
        piece.classList.add(i < accepted ? 'sr-accepted' : 'sr-own');
        piece.title = tokenName(vocab, id);
        this.pieces.push(piece);
      });
    }
    return this.pieces;
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
