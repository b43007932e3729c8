/**
 * The stage: (trace, cursor, language) -> picture.
 *
 * What does not change with the cursor is made once (frame), what belongs to a round when it comes on the board, what
 * is said in words when it changes, and in between only progress numbers move. Scrubbing therefore evaluates; it never
 * replays.
 *
 * @typedef {object} Scene   what the parts see of the stage
 * @property {Trace} trace
 * @property {Timeline} timeline
 * @property {Words} words
 * and what they may ask of it: seek, step, toggle, setSpeed, select, visit, visitPhase
 */
import { statusCard } from './cards.js';
import { ChainBoard } from './chain.js';
import { el } from './dom.js';
import { EmptyBoard } from './empty.js';
import { Bubble } from './explain.js';
import { footnotes } from './footnotes.js';
import { Header } from './header.js';
import { Inspector } from './inspector.js';
import { listen, unlisten } from './keyboard.js';
import { keyAction, keyIsTaken, performAction } from './keys.js';
import { Player } from './player.js';
import { Selection } from './selection.js';
import { TextSoFar } from './text.js';
import { Tiles } from './tiles.js';
import { buildTimeline, cursorFor, finishedRounds, neighbourStep, viewAt } from './timeline.js';
import { Transport } from './transport.js';
import { Words } from './words.js';

const MID = 1000; // widths in units of 14 px text, so that the projector's size counts
const NARROW = 640;
const BASE_PX = 14;

/** @implements {Scene} */
export class Stage {
  /** See main.js for the options. */
  constructor(host, options) {
    this.host = host;
    this.options = {};
    this.timeline = buildTimeline({ rounds: [] });
    this.trace = null;
    this.status = null;
    this.selection = new Selection((place) => this.options.onselect && this.options.onselect(place));
    this.board = null;
    this.told = null;
    this.player = new Player(() => this.timeline, () => this.paint());
    host.classList.add('sv');
    host.tabIndex = -1;
    this.bubble = new Bubble(host);
    listen(this);
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(host);
    this.set({ strings: {}, lang: 'en', ...options });
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

  /** Any of trace, lang, strings, cursor, status, play, speed, onchange, onselect; the rest stays as it is. */
  set(options) {
    Object.assign(this.options, options);
    if ('trace' in options && options.trace !== this.source) this.load(options.trace);
    if ('status' in options) this.status = options.status;
    if (options.speed) this.player.speed = options.speed;
    if (options.cursor != null) this.player.cursor = this.limit(options.cursor);
    if (['trace', 'lang', 'strings'].some((name) => name in options) || !this.trace) this.build();
    else if ('status' in options) this.showStatus();
    else this.paint();
    if (options.play === true) this.play();
    if (options.play === false) this.pause();
  }

  load(trace) {
    this.player.stop();
    this.source = trace;
    // a copy of what grows, so that appending does not write into the host app's object
    this.trace = trace ? { ...trace, rounds: [...trace.rounds], vocab: { ...trace.vocab } } : null;
    this.timeline = buildTimeline(this.trace || { rounds: [] });
    this.player.cursor = 0;
    this.selection.clear();
  }

  /** Adds rounds to the trace on show. Cursor and playback stay; playback that waited at the end goes on. */
  append({ rounds = [], vocab = {}, finish, baseline_ms: baseline }) {
    if (!this.trace) return;
    const fresh = rounds.filter((round) => round.index >= this.trace.rounds.length);
    Object.assign(this.trace.vocab, vocab);
    this.trace.rounds.push(...fresh);
    if (finish !== undefined) this.trace.finish = finish;
    if (baseline !== undefined) this.trace.baseline_ms = baseline;
    this.timeline = buildTimeline(this.trace);
    this.text.append(fresh);
    this.transport.ribbon.append(fresh);
    this.told = null; // the number of rounds is part of what is said
    this.paint();
    this.player.schedule();
  }

  /** The frame: everything that stays while the cursor moves. */
  build() {
    const { lang, strings } = this.options;
    this.words = new Words(strings, this.trace ? this.trace.vocab : {});
    this.board = null;
    this.told = null;
    this.host.lang = lang;
    this.host.setAttribute('role', 'group');
    this.host.setAttribute('aria-label', this.words.text('stage'));
    if (!this.trace) {
      const card = this.status && statusCard(this.words, this.status);
      this.host.replaceChildren(card || statusCard(this.words, { kind: 'empty' }));
      return;
    }
    this.card = el('div', 'sv-card-place');
    this.tiles = new Tiles(this);
    this.header = new Header(this);
    this.place = el('div', 'sv-place');
    this.text = new TextSoFar(this);
    this.inspector = new Inspector(this);
    this.transport = new Transport(this, this.player.speed);
    const story = el('section', 'sv-story', this.header.element, this.text.element, this.place);
    const main = el('div', 'sv-main', story, this.inspector.element);
    const flow = el('div', 'sv-flow', this.tiles.element, main);
    this.host.replaceChildren(this.card, flow, this.transport.element, footnotes(this), this.bubble.element);
    this.fit();
    this.showStatus();
  }

  /** The card above the picture; the picture below, its focus and its scrolling stay. */
  showStatus() {
    const card = this.status && statusCard(this.words, this.status);
    this.card.replaceChildren(...(card ? [card] : []));
    this.paint();
  }

  /** Another kind of draft gets another board; see the typedef Board in chain.js. */
  makeBoard(round) {
    return round < 0 ? new EmptyBoard(this) : new ChainBoard(this, round);
  }

  paint() {
    if (!this.trace) return;
    const view = viewAt(this.timeline, this.cursor);
    if (!this.board || this.board.round !== view.round) this.turnTo(view.round);
    this.board.paint(view.cursor);
    this.text.paint(view.cursor);
    this.transport.ribbon.paint(view.cursor);
    if (this.told !== view.key) {
      this.told = view.key;
      this.tell(view);
      this.board.paint(view.cursor); // what was just made has no progress yet
    }
    this.transport.showPlaying(this.playing);
    this.header.showPlaying(this.playing);
    this.host.classList.toggle('sv-following', this.playing && !this.player.frame);
    this.notify(view);
  }

  turnTo(round) {
    this.board = this.makeBoard(round);
    this.place.replaceChildren(this.board.element);
    this.host.classList.toggle('sv-full-width', this.board.columnCount > 9);
    this.told = null;
    if (this.selection.round !== round) this.selection.clear();
  }

  /** Everything in words at a view. */
  tell(view) {
    this.host.dataset.phase = view.phase;
    const spoken = this.header.show(view);
    this.transport.ribbon.show(view, spoken);
    this.board.show(view);
    const pinned = this.selection.position;
    const position = this.inspector.show(view, pinned);
    this.board.highlight(view.phase === 'pass' && pinned === null ? null : position, pinned !== null);
    this.text.show(view);
    this.host.classList.toggle('sv-pinned', pinned !== null);
    this.tiles.show(finishedRounds(this.timeline, view.cursor));
    this.bubble.refresh();
    this.board.follow(view); // scrolling measures the page, so it comes last
    this.text.follow();
  }

  notify(view) {
    const { onchange } = this.options;
    const state = [view.cursor, this.playing].join();
    if (!onchange || state === this.notified) return;
    this.notified = state;
    onchange(view.cursor, { round: view.round, phase: view.phase, index: view.index, playing: this.playing });
  }

  fit() {
    const em = parseFloat(getComputedStyle(this.host).fontSize) / BASE_PX;
    const width = this.host.clientWidth / em;
    this.host.classList.toggle('sv-mid', width < MID);
    this.host.classList.toggle('sv-narrow', width < NARROW);
  }

  limit(cursor) {
    return Math.max(0, Math.min(this.timeline.length, Number(cursor) || 0));
  }

  /** Stops playback and goes to a cursor. */
  seek(cursor) {
    this.player.stop();
    this.player.cursor = this.limit(cursor);
    this.paint();
  }

  /** The cursor at which a step has just finished; phase draft, pass, gate, outcome, cache, commit, end, or none. */
  cursorAt(round, phase, i) {
    return cursorFor(this.timeline, round, phase, i);
  }

  step(direction) {
    const { player } = this;
    if (player.frame) player.cursor = this.limit(player.following ? Math.ceil(player.cursor) : player.target); // pressed again: finish what runs first
    const next = neighbourStep(this.timeline, player.cursor, direction);
    if (direction < 0 || player.still || next === player.cursor) return this.seek(next);
    player.stop();
    player.run(next);
    return this.paint();
  }

  play() {
    if (!this.trace) return;
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
    if (this.cursor >= this.timeline.length) this.player.cursor = 0;
    return this.play();
  }

  setSpeed(speed) {
    this.player.speed = speed;
  }

  visitPhase(phase) {
    const { round } = viewAt(this.timeline, this.cursor);
    this.seek(this.cursorAt(round, phase, Infinity));
  }

  /** Goes to where a token of the text came from. */
  visit(round, position) {
    this.seek(this.cursorAt(round, 'end'));
    if (this.selection.position !== position) this.select(position);
  }

  /** Pins a position of the round on the board; the same one again, or null, unpins. */
  select(position) {
    if (!this.board) return;
    this.selection.toggle(this.board.round, position);
    this.told = null;
    this.paint();
    // on a phone the inspector lies over the lower part of the board while something is pinned
    if (this.selection.position !== null && this.host.classList.contains('sv-narrow')) this.board.reveal(this.selection.position);
  }

  selectNeighbour(direction) {
    const { positions } = this.board;
    const next = this.selection.neighbour(direction, positions);
    if (positions && next !== this.selection.position) this.select(next);
  }

  projector(on) {
    this.host.classList.toggle('sv-projector', on);
    this.fit();
  }

  /** @returns {boolean} whether the key was for the stage */
  key(event) {
    const action = keyAction(event);
    if (!action || !this.trace || keyIsTaken(event, action)) return false;
    event.preventDefault();
    performAction(this, action);
    return true;
  }

  destroy() {
    this.player.stop();
    this.observer.disconnect();
    this.bubble.destroy();
    unlisten(this);
    this.host.classList.remove('sv', 'sv-mid', 'sv-narrow', 'sv-projector', 'sv-full-width', 'sv-following', 'sv-pinned');
    for (const name of ['tabindex', 'lang', 'role', 'aria-label', 'data-phase']) this.host.removeAttribute(name);
    this.host.replaceChildren();
    this.trace = null;
  }
}
