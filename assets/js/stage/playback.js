/** Where in a run the stage is, and every way to move: what the buttons, the keys and the host app ask for. */
import { Player } from './player.js';
import { buildTimeline, cursorFor, neighbourStep, viewAt } from './timeline.js';

/** The stage's half that moves; what is seen of it is drawn by `paint`. */
export class Playback {
  constructor() {
    this.trace = null;
    this.timeline = buildTimeline({ rounds: [] });
    this.status = null;
    this.preview = null; // an edited tree that is looked at before it is run
    this.player = new Player(() => this.timeline, () => this.paint());
  }

  get cursor() {
    return this.player.cursor;
  }

  /** Playing, or waiting at the end of a run that is still being made. */
  get playing() {
    if (this.player.frame && this.player.following) return true;
    const growing = this.trace && !this.trace.finish && this.status && this.status.kind === 'running';
    return Boolean(growing && this.player.following);
  }

  limit(cursor) {
    return Math.max(0, Math.min(this.timeline.length, this.player.until, Number(cursor) || 0));
  }

  /** Shows an edited tree in the place of the round on the board, until the run is played or stepped again. */
  showPreview(preview) {
    if (!preview) return this.leavePreview();
    this.player.stop();
    this.preview = preview;
    return this.paint();
  }

  leavePreview() {
    if (!this.preview) return;
    this.preview = null;
    this.paint();
  }

  /** Stops playback and goes to a cursor. */
  seek(cursor) {
    this.leavePreview();
    this.player.stop();
    this.player.cursor = this.limit(cursor);
    this.paint();
  }

  /** The cursor at which a step has just finished; phase draft, pass, gate, outcome, cache, commit, end, or none. */
  cursorAt(round, phase, i) {
    return cursorFor(this.timeline, round, phase, i);
  }

  /** Plays on to a cursor and stops there; goes there at once where that lies behind, or far off, or without motion. */
  playTo(cursor, most = Infinity) {
    const to = this.limit(cursor);
    if (to <= this.cursor || to - this.cursor > most || this.player.still) return this.seek(to);
    this.player.stop();
    this.player.run(to);
    return this.paint();
  }

  step(direction) {
    this.attend();
    this.leavePreview();
    const { player } = this;
    if (player.frame) player.cursor = this.limit(player.following ? Math.ceil(player.cursor) : player.target); // pressed again: finish what runs first
    const next = neighbourStep(this.timeline, player.cursor, direction);
    if (direction < 0 || player.still || next === player.cursor) {
      this.seek(next);
      return this.keepInSight();
    }
    player.stop();
    player.run(next);
    return this.paint();
  }

  play() {
    if (!this.trace) return;
    this.leavePreview();
    if (this.cursor >= this.timeline.length && this.trace.finish) this.player.cursor = 0;
    this.player.stop();
    this.player.run(Infinity);
    this.paint();
  }

  pause() {
    this.player.stop();
    this.paint();
  }

  toggle() {
    if (this.playing) return this.pause();
    this.attend();
    if (this.cursor >= this.timeline.length) this.player.cursor = 0;
    return this.play();
  }

  setSpeed(speed) {
    this.player.speed = speed;
  }

  visitPhase(phase) {
    this.attend();
    const { round } = viewAt(this.timeline, this.cursor);
    this.seek(this.cursorAt(round, phase, Infinity));
    this.keepInSight();
  }
}
