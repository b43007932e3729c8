/**
 * The time of a race: which rounds of a lane are over at a moment, and a clock that can be played, paused and wound.
 * Pure: the time of day is always an argument.
 *
 * @typedef {object} RaceRound
 * @property {number[]} parts     ms of drafting, target pass, judging, rolling back
 * @property {number[]} tokens    ids that the round wrote
 * @property {number} accepted    so many of them, the first ones, were drafted
 *
 * @typedef {object} Course       a lane's rounds on its own clock
 * @property {number[]} ends      ms at which each round is over
 * @property {number[]} counts    tokens written by then
 * @property {number} total       ms of all rounds
 * @property {number} tokens      of all rounds
 */

export const RACE_SPEEDS = [0.25, 0.5, 1, 2, 4];

/** @param {RaceRound[]} rounds @returns {Course} */
export function courseOf(rounds) {
  const ends = [];
  const counts = [];
  let total = 0;
  let tokens = 0;
  for (const round of rounds) {
    total += round.parts.reduce((sum, ms) => sum + ms, 0);
    tokens += round.tokens.length;
    ends.push(total);
    counts.push(tokens);
  }
  return { ends, counts, total, tokens };
}

/** Rounds that are over at a moment: a round's tokens are there when its measured time has passed. */
export function roundsOver({ ends }, ms) {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A lane at a moment.
 * @returns {{rounds: number, tokens: number, elapsed: number, done: boolean, speed: number|null}} speed in tokens/s
 */
export function laneAt(course, ms) {
  const rounds = roundsOver(course, ms);
  const done = rounds === course.ends.length;
  const elapsed = done ? course.total : Math.max(0, ms);
  const tokens = rounds ? course.counts[rounds - 1] : 0;
  return { rounds, tokens, elapsed, done, speed: tokens && elapsed > 0 ? (1000 * tokens) / elapsed : null };
}

/** A clock from 0 to `total` ms. `now` is any steady time in ms. */
export class RaceClock {
  constructor(total) {
    this.total = total;
    this.speed = 1;
    this.base = 0; // ms of the race at `since`
    this.since = null; // null: it stands
  }

  at(now) {
    const passed = this.since === null ? 0 : Math.max(0, now - this.since) * this.speed;
    return Math.min(this.total, this.base + passed);
  }

  playing(now) {
    return this.since !== null && this.at(now) < this.total;
  }

  ended(now) {
    return this.at(now) >= this.total;
  }

  /** Goes on; from the start, when it had come to the end. */
  play(now) {
    this.base = this.ended(now) ? 0 : this.at(now);
    this.since = now;
  }

  pause(now) {
    this.base = this.at(now);
    this.since = null;
  }

  again(now) {
    this.base = 0;
    this.since = now;
  }

  seek(now, ms) {
    this.base = Math.min(this.total, Math.max(0, ms));
    if (this.since !== null) this.since = now;
  }

  setSpeed(now, speed) {
    this.base = this.at(now);
    if (this.since !== null) this.since = now;
    this.speed = speed;
  }
}

/**
 * The rounds as rectangles on a common time axis, one path a kind: {draft, target, rest}. x runs from 0 to 1000 at `all`
 * ms; each kind has its own height, so that it is told apart without colour.
 */
export function stripPaths(rounds, all) {
  const paths = { draft: '', target: '', rest: '' };
  const high = { draft: [6, 18], target: [0, 18], rest: [13, 18] };
  let x = 0;
  for (const { parts } of rounds) {
    const [draft, target, ...rest] = parts;
    for (const [kind, ms] of [['draft', draft], ['target', target], ['rest', rest.reduce((a, b) => a + b, 0)]]) {
      const width = (1000 * ms) / all;
      const [top, bottom] = high[kind];
      if (width > 0) paths[kind] += `M${x.toFixed(2)} ${top}h${width.toFixed(2)}V${bottom}h${(-width).toFixed(2)}z`;
      x += width;
    }
  }
  return paths;
}
