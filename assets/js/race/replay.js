/** A race, replayed: both lanes on one clock, its controls, and what the app is doing while none is on show. */
import { button, el } from './../stage/dom.js';
import { LaneView } from './lane.js';
import { RACE_SPEEDS, RaceClock } from './clock.js';

const STILL = '(prefers-reduced-motion: reduce)';
const SCRUB = 1000; // the scrubber's end: a round number, for browsers round the value of a range
const LEGEND = ['draft', 'target', 'rest', 'accepted', 'own'];

export class Replay {
  /** @param {HTMLElement} host @param {(key: string, values?: object) => string} word  the words of race.json */
  constructor(host, word) {
    this.host = host;
    this.word = word;
    this.race = null;
    this.status = '';
    this.clock = new RaceClock(1);
    this.frame = 0;
    host.classList.add('sv', 'sr');
    this.draw();
  }

  /** Another race, played from its start; who wants no motion sees its end. */
  show(race, play) {
    this.race = race;
    const { speed } = this.clock;
    this.clock = new RaceClock(race ? Math.max(1, ...race.lanes.map(totalOf)) : 1);
    this.clock.speed = speed;
    const now = performance.now();
    if (race && play && !matchMedia(STILL).matches) this.clock.again(now);
    else this.clock.seek(now, this.clock.total);
    this.draw();
    if (race && play) this.host.scrollIntoView({ block: 'nearest' }); // on a phone it lies below the settings
  }

  /** What the app is doing: a sentence, '' when nothing. `kind`: 'busy', 'over' when it has ended, 'wrong' for a failure. */
  tell(text, kind) {
    this.status = text;
    this.kind = kind;
    this.showStatus();
  }

  translate(word) {
    this.word = word;
    this.draw();
  }

  pause() {
    this.clock.pause(performance.now());
    this.paint();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
  }

  draw() {
    const { race, word } = this;
    this.line = el('p', 'sr-status');
    this.line.setAttribute('role', 'status');
    this.lanes = [];
    if (!race) {
      this.empty = el('p', 'sr-empty', word('track_empty'));
      this.host.replaceChildren(this.line, this.empty);
      this.showStatus();
      return;
    }
    const names = [word('lane_plain'), word('method_' + race.method)];
    this.lanes = race.lanes.map((lane, i) => new LaneView(lane, { name: names[i], kind: i ? 'fast' : 'plain', vocab: race.vocab, all: this.clock.total, word }));
    this.outcome = el('p', 'sr-outcome');
    this.outcome.setAttribute('role', 'status');
    const legend = el('ul', 'sr-legend', LEGEND.map((kind) => el('li', 'sr-is-' + kind, el('i'), word('legend_' + kind))));
    this.host.replaceChildren(this.line, this.controls(), ...this.lanes.map(({ element }) => element), this.outcome, legend);
    this.showStatus();
    this.told = null;
    this.paint();
  }

  controls() {
    const { word } = this;
    this.toggle = button('sr-play', () => this.pressed());
    const again = button('sr-again', () => {
      this.clock.again(performance.now());
      this.paint();
    }, word('again'));
    this.scrub = el('input', 'sr-scrub');
    Object.assign(this.scrub, { type: 'range', min: 0, max: SCRUB, step: 'any' });
    this.scrub.setAttribute('aria-label', word('scrub'));
    this.scrub.addEventListener('input', () => {
      this.clock.pause(performance.now());
      this.clock.seek(performance.now(), (this.clock.total * Number(this.scrub.value)) / SCRUB);
      this.paint();
    });
    this.time = el('span', 'sr-time');
    const speed = el('select', 'sr-rate', RACE_SPEEDS.map((x) => Object.assign(el('option', '', x + '×'), { value: x, selected: x === this.clock.speed })));
    speed.addEventListener('change', () => this.clock.setSpeed(performance.now(), Number(speed.value)));
    const rate = el('label', 'sr-rate-label', word('speed') + ' ', speed);
    return el('div', 'sr-controls', this.toggle, again, this.scrub, this.time, rate);
  }

  pressed() {
    const now = performance.now();
    if (this.clock.playing(now)) this.clock.pause(now);
    else this.clock.play(now);
    this.paint();
  }

  showStatus() {
    this.line.textContent = this.status;
    this.line.hidden = !this.status;
    this.line.classList.toggle('sr-wrong', this.kind === 'wrong');
    this.host.classList.toggle('sr-busy', Boolean(this.status) && this.kind === 'busy');
  }

  /** The moment, and the next one as long as it plays. */
  paint() {
    cancelAnimationFrame(this.frame);
    if (!this.race) return;
    const { word, clock } = this;
    const now = performance.now();
    const ms = clock.at(now);
    const playing = clock.playing(now);
    for (const lane of this.lanes) lane.paint(ms);
    this.scrub.value = String((SCRUB * ms) / clock.total);
    this.time.textContent = word('seconds', { now: (ms / 1000).toFixed(2), all: (clock.total / 1000).toFixed(2) });
    const ended = clock.ended(now);
    const state = (playing ? 'playing' : 'standing') + ended;
    if (state !== this.told) {
      this.told = state;
      this.toggle.textContent = word(playing ? 'pause' : 'play');
      this.toggle.classList.toggle('sr-playing', playing);
      const { speedup } = this.race;
      this.outcome.textContent = ended ? word(speedup > 1 ? 'ended_faster' : 'ended_slower', { x: speedup.toFixed(2) }) : '\u00a0';
      this.outcome.classList.toggle('sr-slower', speedup <= 1);
    }
    if (playing) this.frame = requestAnimationFrame(() => this.paint());
  }
}

function totalOf({ rounds }) {
  return rounds.reduce((sum, { parts }) => sum + parts.reduce((a, b) => a + b, 0), 0);
}
