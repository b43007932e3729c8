/**
 * Keeps what is told in sight while the run plays or is stepped: the page scrolls as far as it must. A reader who has
 * scrolled away is left alone until what is told is in sight again, and so is one who fills in a field elsewhere.
 *
 * @typedef {{top: number, bottom: number}} Span   from above, in px of the window
 */
const FIELDS = 'input, textarea, select, [contenteditable]';
const LEAST_MOVE = 4; // px; less would only twitch

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

/** Whether half of a span, or half of the band, is to be seen. Pure. */
export function isSeen(span, band) {
  const common = Math.min(span.bottom, band.bottom) - Math.max(span.top, band.top);
  return common >= Math.min(span.bottom - span.top, band.bottom - band.top) / 2;
}

export class Sight {
  constructor(host) {
    this.host = host;
    this.last = null; // where the last thing was that was told; px from the top of the stage
  }

  /** The next thing told is shown, wherever the reader is. */
  reset() {
    this.last = null;
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
    if (!wanted.length || this.isElsewhere()) return;
    const spans = wanted.map(spanOf);
    const { top } = this.host.getBoundingClientRect();
    const least = spans.at(-1);
    const before = this.last && { top: this.last.top + top, bottom: this.last.bottom + top };
    this.last = { top: least.top - top, bottom: least.bottom - top };
    if (before && !isSeen(before, band) && !isSeen(least, band)) return; // scrolled away by hand
    const by = scrollFor(spans, band);
    if (Math.abs(by) >= LEAST_MOVE) scrollBy({ top: by, behavior: still ? 'instant' : 'smooth' });
  }

  isElsewhere() {
    const { activeElement } = document;
    return Boolean(activeElement && activeElement.matches(FIELDS) && !this.host.contains(activeElement));
  }
}

/** @returns {Span} of some elements together */
function spanOf(elements) {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  return { top: Math.min(...boxes.map((box) => box.top)), bottom: Math.max(...boxes.map((box) => box.bottom)) };
}
