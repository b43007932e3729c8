/**
 * Keeps what is told in sight while the run plays or is stepped: the page scrolls as far as it must. It does so from the
 * moment that the reader asks for it, by playing, stepping or running, until the reader scrolls; and never while a field
 * elsewhere is filled in. A page or a tab that was just opened is not scrolled.
 *
 * @typedef {{top: number, bottom: number}} Span   from above, in px of the window
 */
const FIELDS = 'input, textarea, select, [contenteditable]';
const LEAST_MOVE = 4; // px; less would only twitch
const HAND_EVENTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'];
const SCROLL_KEYS = ['PageUp', 'PageDown', 'ArrowUp', 'ArrowDown', 'Home', 'End', ' ', 'Tab']; // where the stage leaves them alone

/**
 * How far to scroll so that a span is in the band of the window that is free: the first of `spans` that fits, else the
 * beginning of the last one. Pure.
 */
export function scrollFor(spans, band) {
  const fitting = spans.find((span) => span.bottom - span.top <= band.bottom - band.top);
  const { top, bottom } = fitting || spans.at(-1);
  if (top < band.top || !fitting) return top - band.top;
  return Math.max(0, bottom - band.bottom);
}

/**
 * Whether an event is a reader's who scrolls: by wheel, finger, key or scroll bar. Pure.
 * @param {number} width   of the page, without its scroll bar
 */
export function isScrolling(event, width) {
  if (event.type === 'wheel') return !event.ctrlKey && !event.metaKey && Math.abs(event.deltaY) > Math.abs(event.deltaX);
  if (event.type === 'keydown') return !event.defaultPrevented && SCROLL_KEYS.includes(event.key);
  return event.type === 'touchmove' || event.clientX >= width;
}

export class Sight {
  constructor(host) {
    this.host = host;
    this.byHand = true; // whether the page is the reader's to scroll
    this.listener = (event) => {
      if (isScrolling(event, document.documentElement.clientWidth)) this.byHand = true;
    };
    for (const name of HAND_EVENTS) globalThis.addEventListener(name, this.listener, { passive: true });
  }

  /** From here on the page follows. */
  reset() {
    this.byHand = false;
  }

  /** The stage goes to the top of the window. */
  toTop() {
    this.host.scrollIntoView({ block: 'start' });
    this.reset();
  }

  /**
   * @param {Element[][]} wanted   what should be seen together; the most first, the least that must be seen last
   * @param {Span} band            what is free of the window
   * @param {boolean} still        without motion
   */
  follow(wanted, band, still) {
    if (!wanted.length || this.byHand || this.isElsewhere()) return;
    const by = scrollFor(wanted.map(spanOf), band);
    if (Math.abs(by) >= LEAST_MOVE) scrollBy({ top: by, behavior: still ? 'instant' : 'smooth' });
  }

  isElsewhere() {
    const { activeElement } = document;
    return Boolean(activeElement && activeElement.matches(FIELDS) && !this.host.contains(activeElement));
  }

  destroy() {
    for (const name of HAND_EVENTS) globalThis.removeEventListener(name, this.listener);
  }
}

/** @returns {Span} of some elements together */
function spanOf(elements) {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  return { top: Math.min(...boxes.map((box) => box.top)), bottom: Math.max(...boxes.map((box) => box.bottom)) };
}
