/** What stands around the board and stays while the cursor moves: figures, header, text, inspector, transport. */
import { statusCard } from './cards.js';
import { el, setVars } from './dom.js';
import { footnotes } from './footnotes.js';
import { Header } from './header.js';
import { Inspector } from './inspector.js';
import { TextSoFar } from './text.js';
import { Tiles } from './tiles.js';
import { finishedRounds } from './timeline.js';
import { Transport } from './transport.js';

export class Frame {
  constructor(scene) {
    this.scene = scene;
    this.card = el('div', 'sv-card-place');
    this.tiles = new Tiles(scene);
    this.header = new Header(scene);
    this.place = el('div', 'sv-place');
    this.text = new TextSoFar(scene);
    this.inspector = new Inspector(scene);
    this.transport = new Transport(scene, scene.player.speed);
    this.said = el('div', 'sv-said', this.header.element, this.text.element); // over a tree both stay at the top
    const story = el('section', 'sv-story', this.said, this.place);
    const main = el('div', 'sv-main', story, this.inspector.element);
    const flow = el('div', 'sv-flow', this.tiles.element, main);
    this.elements = [this.card, flow, this.transport.element, footnotes(scene)];
  }

  /** The card above the picture; the picture below, its focus and its scrolling stay. */
  showStatus(status) {
    const card = status && statusCard(this.scene.words, status);
    this.card.replaceChildren(...(card ? [card] : []));
  }

  put(board) {
    this.place.replaceChildren(board.element);
    this.inspector.setLead(board.side || null);
  }

  append(rounds) {
    this.text.append(rounds);
    this.transport.ribbon.append(rounds);
  }

  /** Progress only. */
  paint(cursor) {
    this.text.paint(cursor);
    this.transport.ribbon.paint(cursor);
  }

  /** @returns {number|null} the position that the inspector speaks of */
  tell(view, board, pinned) {
    const spoken = this.header.show(view);
    this.transport.ribbon.show(view, spoken);
    board.show(view);
    this.text.show(view);
    this.tiles.show(finishedRounds(this.scene.timeline, view.cursor));
    return this.inspector.show(view, pinned);
  }

  /** Tells the style sheet how high the transport is: on a phone the inspector stands on it. */
  fit() {
    setVars(this.inspector.element, { foot: this.transport.element.offsetHeight + 'px' });
    this.inspector.fit(this.place.clientWidth);
  }

  /** @returns {Span} what is free of the window between what is said, where that stays at the top, and the transport */
  band() {
    const stays = getComputedStyle(this.said).position === 'sticky';
    return { top: stays ? this.said.offsetHeight : 0, bottom: document.documentElement.clientHeight - this.transport.element.offsetHeight };
  }

  showPlaying(playing) {
    this.transport.showPlaying(playing);
    this.header.showPlaying(playing);
  }

  follow() {
    this.text.follow();
  }
}
