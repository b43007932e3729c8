/**
 * Moves the cursor through time: the only place that asks for animation frames, and only while something moves.
 * The cursor stops at every whole step for a moment's exactness, then goes on; with reduced motion it takes whole
 * steps only, with the same pauses.
 */
export class Player {
  /**
   * @param {() => Timeline} timeline
   * @param {(cursor: number) => void} moved   called with every new cursor
   */
  constructor(timeline, moved) {
    this.timeline = timeline;
    this.moved = moved;
    this.cursor = 0;
    this.speed = 1;
    this.still = globalThis.matchMedia ? globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches : false;
    this.frame = 0;
    this.until = Infinity; // a cursor that is not gone beyond: what comes after it is not to be seen yet
    this.target = null; // where it runs to; Infinity while playing, so that later rounds are played too
    this.rested = 0; // with reduced motion: how long the present step has been shown, ms
  }

  /** Whether playback is on, even if it waits at the end for rounds to come. */
  get following() {
    return this.target === Infinity;
  }

  run(target) {
    this.target = target;
    this.rested = 0;
    this.schedule();
  }

  stop() {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.target = null;
  }

  /** Asks for a frame when there is something left to play; also called when rounds have come in. */
  schedule() {
    if (this.frame || this.target === null || this.cursor >= this.end()) return;
    this.last = null;
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  end() {
    return Math.min(this.target, this.until, this.timeline().length);
  }

  tick(now) {
    const elapsed = (this.last === null ? 0 : now - this.last) * this.speed;
    this.last = now;
    this.cursor = Math.min(this.advanced(elapsed), this.end());
    const more = this.cursor < this.end();
    this.frame = more ? requestAnimationFrame((next) => this.tick(next)) : 0;
    if (!more && !this.following) this.target = null;
    this.moved(this.cursor);
  }

  advanced(elapsed) {
    const whole = Math.floor(this.cursor);
    const step = this.timeline().steps[whole];
    if (this.still) {
      this.rested += elapsed;
      if (this.rested < step.ms) return this.cursor;
      this.rested = 0;
      return whole + 1;
    }
    return Math.min(whole + 1, this.cursor + elapsed / step.ms);
  }
}
