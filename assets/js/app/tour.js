/**
 * The tour of a first visit: four cards, each beside the part of the page that it speaks of. It comes once, on the plain
 * page only, and never again: that it was shown is kept in the browser, and where nothing can be kept it is not shown.
 */
import { button, el } from './../stage/dom.js';
import { currentLanguage, text } from './language.js';

const STEPS = [
  ['stage', '#sv-stage-main .sv-place'],
  ['transport', '#sv-stage-main .sv-transport'],
  ['prompt', '.sv-prompt'],
  ['tabs', '#sv-tabs [role=tablist]'],
];
const SEEN = 'specviz.tour';
const GAP = 12; // px between a card and what it speaks of
const HARMLESS = /^(lang|__.*)$/; // what an address may say and still be that of the plain page

/** Whether the tour may come. Pure, but for the storage. */
export function isTourDue(search, storage) {
  if ([...new URLSearchParams(search).keys()].some((name) => !HARMLESS.test(name))) return false; // ?tour=0 is one such
  try {
    return storage.getItem(SEEN) === null;
  } catch {
    return false;
  }
}

/** Begins the tour on a first visit, once the stage is there. Called when the page has loaded. */
export function tour() {
  let storage = null;
  try {
    storage = globalThis.localStorage;
    if (!isTourDue(location.search, storage) || document.body.classList.contains('sl-presenting')) return;
    storage.setItem(SEEN, 'seen'); // whatever becomes of it: it comes no second time
  } catch {
    return;
  }
  whenThere(STEPS[0][1], () => new Tour());
}

function whenThere(selector, act) {
  if (document.querySelector(selector)) return void act();
  const watch = new MutationObserver(() => {
    if (!document.querySelector(selector)) return;
    watch.disconnect();
    act();
  });
  watch.observe(document.body, { childList: true, subtree: true });
}

class Tour {
  constructor() {
    this.before = document.activeElement; // gets the focus back
    this.at = 0;
    this.steps = STEPS.filter(([, selector]) => document.querySelector(selector));
    this.ring = el('div', 'sv-tour-ring');
    this.card = el('div', 'sv-tour-card');
    this.root = el('div', 'sv-tour', this.ring, this.card);
    this.card.setAttribute('role', 'dialog');
    this.card.setAttribute('aria-modal', 'true');
    this.card.setAttribute('aria-labelledby', 'sv-tour-title');
    this.card.setAttribute('aria-describedby', 'sv-tour-text');
    this.root.addEventListener('click', ({ target }) => target === this.root && this.end());
    this.key = (event) => this.pressed(event);
    this.settle = () => this.place();
    document.addEventListener('keydown', this.key, true); // before the stage and the lessons, which have keys for the page
    addEventListener('resize', this.settle);
    addEventListener('scroll', this.settle, true);
    this.rest = [...document.body.children].filter((node) => !node.inert && node.tagName !== 'SCRIPT');
    for (const node of this.rest) node.inert = true;
    document.body.append(this.root);
    this.show();
  }

  show() {
    const [name, selector] = this.steps[this.at];
    const values = { n: this.at + 1, all: this.steps.length };
    const last = this.at === this.steps.length - 1;
    this.root.lang = currentLanguage();
    const where = el('p', 'sv-tour-where', text('tour.label', values));
    const title = el('h2', '', text(`tour.${name}_title`));
    const told = el('p', '', text('tour.' + name));
    Object.assign(title, { id: 'sv-tour-title' });
    Object.assign(told, { id: 'sv-tour-text' });
    const skip = button('sv-tour-skip', () => this.end(), text('tour.skip'));
    const back = button('', () => this.move(-1), text('tour.back'));
    const next = button('sv-tour-next', () => this.move(1), text(last ? 'tour.done' : 'tour.next'));
    back.hidden = this.at === 0;
    skip.hidden = last;
    const buttons = el('div', 'sv-tour-buttons', skip, back, next);
    this.card.replaceChildren(where, title, told, el('p', 'sv-tour-keys', text('tour.keys')), buttons);
    this.target = document.querySelector(selector);
    const box = this.target.getBoundingClientRect();
    if (box.top < 0 || box.bottom > innerHeight) this.target.scrollIntoView({ block: box.height < innerHeight ? 'center' : 'start', behavior: 'instant' });
    this.place();
    next.focus({ preventScroll: true });
  }

  /** The ring around what is spoken of; the card below it, above it, or where neither fits at the edge with more room. */
  place() {
    const box = this.target.getBoundingClientRect();
    const top = Math.max(4, box.top - 6);
    const bottom = Math.min(innerHeight - 4, box.bottom + 6);
    const left = Math.max(4, box.left - 6);
    const right = Math.min(document.documentElement.clientWidth - 4, box.right + 6);
    Object.assign(this.ring.style, { top: top + 'px', left: left + 'px', width: right - left + 'px', height: Math.max(0, bottom - top) + 'px' });
    const { offsetHeight: height, offsetWidth: width } = this.card;
    const below = bottom + GAP;
    const above = top - GAP - height;
    const free = below + height <= innerHeight - GAP ? below : above >= GAP ? above : innerHeight - height - GAP;
    const middle = Math.max(GAP, Math.min((left + right - width) / 2, document.documentElement.clientWidth - width - GAP));
    Object.assign(this.card.style, { top: Math.max(GAP, free) + 'px', left: middle + 'px' });
  }

  pressed(event) {
    const { key, shiftKey } = event;
    const acts = { Escape: () => this.end(), ArrowRight: () => this.move(1), ArrowLeft: () => this.move(-1), Tab: () => this.turn(shiftKey ? -1 : 1) };
    event.stopPropagation(); // nothing else on the page hears the keyboard meanwhile
    if (!acts[key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[key]();
  }

  /** The focus stays among the card's buttons. */
  turn(direction) {
    const buttons = [...this.card.querySelectorAll('button:not([hidden])')];
    const at = buttons.indexOf(document.activeElement);
    buttons[(at + direction + buttons.length) % buttons.length].focus();
  }

  move(direction) {
    const next = this.at + direction;
    if (next < 0) return;
    if (next === this.steps.length) return void this.end();
    this.at = next;
    this.show();
  }

  end() {
    document.removeEventListener('keydown', this.key, true);
    removeEventListener('resize', this.settle);
    removeEventListener('scroll', this.settle, true);
    for (const node of this.rest) node.inert = false;
    this.root.remove();
    scrollTo({ top: 0, behavior: 'instant' });
    if (this.before && this.before.isConnected) this.before.focus({ preventScroll: true });
  }
}
