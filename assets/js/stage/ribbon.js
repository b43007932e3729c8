/**
 * The ribbon: the whole run as a scrubber. One block a round, one cell a token; the future is blank. Beyond 30 rounds
 * it becomes a bar chart of tokens per round.
 */
import { Binder, el, icon, setVars } from './dom.js';
import { cursorAtPlace, ribbonPlace } from './timeline.js';

const MANY = 30;
const DENSE = 12; // more numbers than this do not fit on a phone

export class Ribbon {
  constructor(scene) {
    this.scene = scene;
    this.binder = new Binder();
    this.count = 0;
    this.head = el('div', 'sv-head');
    this.inner = el('div', 'sv-ribbon-inner', this.head);
    this.element = el('div', 'sv-ribbon', this.inner);
    this.element.tabIndex = 0;
    this.element.setAttribute('role', 'slider');
    this.element.setAttribute('aria-label', scene.words.text('scrub'));
    this.element.setAttribute('aria-valuemin', '0');
    this.element.addEventListener('pointerdown', (event) => this.press(event));
    this.element.addEventListener('pointermove', (event) => this.dragging && this.scrub(event));
    for (const end of ['pointerup', 'pointercancel']) this.element.addEventListener(end, () => { this.dragging = false; });
    this.append(scene.trace.rounds);
  }

  append(rounds) {
    const { timeline, trace, words } = this.scene;
    for (const round of rounds) {
      const marks = timeline.rounds[round.index];
      const judged = marks.walk || round.verdicts.keys(); // of a tree only the nodes that the walk came to
      const cells = [...judged].map((i) => this.binder.bind(el('i', 'sv-' + round.verdicts[i].status), marks.settled[i]));
      if (round.final) cells.push(this.binder.bind(el('i', 'sv-' + round.final.kind), marks.outcome));
      const block = el('div', 'sv-block', el('div', 'sv-block-cells', cells), el('span', '', String(round.index + 1)));
      if (round.index === trace.forked_at) {
        block.classList.add('sv-forked');
        block.prepend(el('em', 'sv-fork', icon('fork')));
        block.title = words.text('forked_here');
      }
      this.inner.append(block);
      this.count++;
    }
    this.element.classList.toggle('sv-dense', this.count > DENSE);
    this.element.classList.toggle('sv-long', this.count > MANY);
    const most = Math.max(1, ...trace.rounds.map((r) => r.path.length + (r.final ? 1 : 0)));
    setVars(this.inner, { n: Math.max(1, this.count), most });
    this.element.setAttribute('aria-valuemax', String(timeline.length));
  }

  press(event) {
    if (event.button) return;
    this.element.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.scrub(event);
  }

  scrub(event) {
    const box = this.inner.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * this.count;
    this.scene.seek(cursorAtPlace(this.scene.timeline, Math.min(place, this.count - 0.001)));
  }

  paint(cursor) {
    this.binder.paint(cursor);
    const place = this.count ? ribbonPlace(this.scene.timeline, cursor) / this.count : 0;
    this.head.style.left = (place * 100).toFixed(3) + '%';
  }

  /** @param {string} spoken  the place in words, for screen readers */
  show(view, spoken) {
    this.element.setAttribute('aria-valuenow', String(Math.ceil(view.cursor)));
    this.element.setAttribute('aria-valuetext', spoken);
  }
}
