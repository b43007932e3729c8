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
 * @property {Preview|null} preview   an edited tree that is looked at before it is run
 * and what they may ask of it: seek, step, toggle, setSpeed, select, visit, visitPhase, leavePreview, tellAgain
 */
import { statusCard } from './cards.js';
import { ChainBoard } from './chain.js';
import { EmptyBoard } from './empty.js';
import { Bubble } from './explain.js';
import { Frame } from './frame.js';
import { listen, unlisten } from './keyboard.js';
import { keyAction, keyIsTaken, performAction } from './keys.js';
import { Playback } from './playback.js';
import { Selection } from './selection.js';
import { Sight } from './sight.js';
import { buildTimeline, isOutcomeTold, viewAt } from './timeline.js';
import { drawsTree, isTreeConfig } from './trace.js';
import { TreeBoard } from './tree.js';
import { UNITS_PER_EM } from './treegeometry.js';
import { PreviewBoard } from './treepreview.js';
import { Words } from './words.js';

const MID = 1000; // widths in units of 14 px text, so that the projector's size counts
const NARROW = 640;
const SHORT = 560; // a window lower than this has no room for the figures above the board
const LOW_FOR_TREES = 820; // a tree is higher than a chain

/** @implements {Scene} */
export class Stage extends Playback {
  /** See main.js for the options. */
  constructor(host, options) {
    super();
    this.host = host;
    this.options = {};
    this.selection = new Selection((place) => this.options.onselect && this.options.onselect(place));
    this.board = null;
    this.told = null;
    host.classList.add('sv');
    host.tabIndex = -1;
    this.bubble = new Bubble(host);
    listen(this);
    this.sight = new Sight(host);
    this.refit = () => this.fit();
    this.observer = new ResizeObserver(this.refit);
    this.observer.observe(host);
    globalThis.addEventListener('resize', this.refit); // its height counts too
    this.set({ strings: {}, lang: 'en', ...options });
  }

  /** Any of trace, lang, strings, cursor, until, status, preview, play, onchange, onselect; the rest stays as it is. */
  set(options) {
    Object.assign(this.options, options);
    if ('trace' in options && options.trace !== this.source) this.load(options.trace);
    if ('status' in options) this.status = options.status;
    if ('until' in options) this.player.until = options.until ?? Infinity;
    if (options.cursor != null) this.player.cursor = this.limit(options.cursor);
    if ('preview' in options) this.showPreview(options.preview);
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
    this.preview = null;
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
    this.frame.append(fresh);
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
    this.frame = new Frame(this);
    this.host.replaceChildren(...this.frame.elements, this.bubble.element);
    this.fit();
    this.showStatus();
  }

  /** The card above the picture; the picture below, its focus and its scrolling stay. */
  showStatus() {
    this.frame.showStatus(this.status);
    this.paint();
  }

  /** Another kind of draft gets another board; see the typedef Board in chain.js. */
  makeBoard(round) {
    if (this.preview) return new PreviewBoard(this, round);
    if (round < 0) return new EmptyBoard(this);
    return drawsTree(this.trace, this.trace.rounds[round]) ? new TreeBoard(this, round) : new ChainBoard(this, round);
  }

  paint() {
    if (!this.trace) return;
    const view = viewAt(this.timeline, this.cursor);
    if (!this.board || this.board.round !== view.round || (this.board.preview || null) !== this.preview) this.turnTo(view.round);
    this.board.paint(view.cursor);
    this.frame.paint(view.cursor);
    if (this.told !== view.key) {
      this.told = view.key;
      this.tell(view);
      this.board.paint(view.cursor); // what was just made has no progress yet
    }
    this.frame.showPlaying(this.playing);
    this.host.classList.toggle('sv-following', this.playing && !this.player.frame);
    this.notify(view);
  }

  turnTo(round) {
    this.board = this.makeBoard(round);
    this.host.classList.toggle('sv-previewing', this.preview !== null);
    this.frame.put(this.board);
    if (this.board.fit) this.board.fit();
    this.host.classList.toggle('sv-full-width', this.board.columnCount > 9);
    this.host.classList.toggle('sv-branching', this.board instanceof TreeBoard);
    this.told = null;
    if (this.selection.round !== round || !this.hasSelected()) this.selection.clear();
  }

  /** Whether what is selected is on the board; a node that was taken out of an edited tree is not. */
  hasSelected() {
    const { branch, position } = this.selection;
    if (branch) return this.preview !== null && this.board.has(branch);
    return position === null || !this.preview || this.board.keeps(position);
  }

  /** Says everything anew, since another thing is selected. */
  tellAgain() {
    this.told = null;
    this.paint();
  }

  /** Everything in words at a view. */
  tell(view) {
    this.host.dataset.phase = view.phase;
    const pinned = this.selection.position;
    const position = this.frame.tell(view, this.board, pinned);
    this.board.highlight(view.phase === 'pass' && pinned === null ? null : position, pinned !== null);
    this.host.classList.toggle('sv-pinned', pinned !== null);
    this.bubble.refresh();
    this.board.follow(view); // scrolling measures the page, so it comes last
    this.frame.follow();
    if (this.player.target !== null) this.keepInSight();
  }

  /** The reader has asked for what comes: the page follows it, until the reader scrolls. */
  attend() {
    this.sight.reset();
  }

  /** Has the page show what is told, while it is played or stepped. */
  keepInSight() {
    const covered = this.selection.position !== null && this.host.classList.contains('sv-narrow'); // by the inspector
    if (!this.board || !this.board.wanted || covered) return;
    this.sight.follow(this.board.wanted(viewAt(this.timeline, this.cursor)), this.frame.band(), this.player.still);
  }

  notify(view) {
    const { onchange } = this.options;
    const state = [view.cursor, this.playing].join();
    if (!onchange || state === this.notified) return;
    this.notified = state;
    onchange(view.cursor, { round: view.round, phase: view.phase, index: view.index, told: isOutcomeTold(this.timeline, view), playing: this.playing });
  }

  fit() {
    const em = parseFloat(getComputedStyle(this.host).fontSize) / UNITS_PER_EM;
    const width = this.host.clientWidth / em;
    this.host.classList.toggle('sv-mid', width < MID);
    this.host.classList.toggle('sv-narrow', width < NARROW);
    const low = document.documentElement.clientHeight / em < (this.trace && isTreeConfig(this.trace.config) ? LOW_FOR_TREES : SHORT);
    this.host.classList.toggle('sv-short', low);
    if (this.trace) this.frame.fit();
    if (this.board && this.board.fit) this.board.fit();
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
    this.tellAgain();
    // on a phone the inspector lies over the lower part of the board while something is pinned
    if (this.selection.position !== null && this.host.classList.contains('sv-narrow')) this.board.reveal(this.selection.position);
  }

  selectNeighbour(direction) {
    const { positions } = this.board;
    if (this.preview) return this.board.pickNeighbour(direction);
    const next = this.selection.neighbour(direction, positions);
    return positions && next !== this.selection.position ? this.select(next) : undefined;
  }

  /** Large letters: then the stage is all that is looked at, so it goes to the top of the window. */
  projector(on) {
    const large = this.host.classList.toggle('sv-projector', on);
    this.fit();
    if (large) this.sight.toTop();
  }

  /** In (1), out (-1), all of it (0), where the board can. */
  zoom(direction) {
    if (this.board && this.board.zoom) this.board.zoom(direction);
  }

  toggleHelp(open) {
    this.frame.transport.toggleHelp(open);
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
    globalThis.removeEventListener('resize', this.refit);
    this.bubble.destroy();
    this.sight.destroy();
    unlisten(this);
    this.host.classList.remove('sv', 'sv-mid', 'sv-narrow', 'sv-short', 'sv-projector', 'sv-full-width', 'sv-branching', 'sv-previewing', 'sv-following', 'sv-pinned');
    for (const name of ['tabindex', 'lang', 'role', 'aria-label', 'data-phase']) this.host.removeAttribute(name);
    this.host.replaceChildren();
    this.trace = null;
  }
}
