/**
 * A window onto a picture that can be larger than it: zoom by buttons, keys, pinching and the wheel with Ctrl, pan by
 * dragging and by following what happens. While the picture is no higher than the window, the plain wheel and a finger's
 * way up and down are the page's; a higher one scrolls like any list, and then the page does.
 */
import { button, el, svgEl } from './dom.js';
import { UNITS_PER_EM, roomFor, scrollWithin } from './treegeometry.js';

const ZOOM_STEP = 1.3;
const ZOOM_MOST = 4; // times the natural size
const FAR = 0.75; // scales below this are for the shape, not for reading
const TOOL_PATHS = { in: 'M10 4v12M4 10h12', out: 'M4 10h12' };
const TOOL_NAMES = { in: 'zoom_in', out: 'zoom_out' };

/** How the reader looks at the trees of a stage, from round to round: a scale, or null for the whole tree. */
const looks = new WeakMap();

export class TreeView {
  /** @param {SVGElement} picture   its size is set here, in em, from `natural` */
  constructor(scene, picture) {
    this.scene = scene;
    this.picture = picture;
    this.natural = { width: 1, height: 1 };
    this.room = Infinity; // how high the window may be, in units
    this.scale = 1;
    this.last = null; // the place that was followed last, in units
    this.anchor = el('i', 'sv-anchor'); // stands for a node where the page has to scroll to it
    this.window = el('div', 'sv-tree-window', picture, this.anchor);
    const tool = (name, act) => {
      const node = button('sv-tool', act, svgEl('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svgEl('path', { d: TOOL_PATHS[name] })));
      node.title = scene.words.text(TOOL_NAMES[name]);
      node.setAttribute('aria-label', node.title);
      return node;
    };
    this.fitting = button('sv-fit', () => this.zoom(0));
    this.tools = el('div', 'sv-tools', tool('out', () => this.zoom(-1)), tool('in', () => this.zoom(1)), this.fitting);
    this.window.addEventListener('scroll', () => this.hint());
    this.window.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.window.addEventListener('pointerdown', (event) => this.press(event));
    this.window.addEventListener('touchmove', (event) => this.pinch(event), { passive: false });
    for (const end of ['touchend', 'touchcancel']) this.window.addEventListener(end, () => { this.fingers = null; });
  }

  /** @returns {{width: number, room: number}|null} the place there is, in units; null: unknown yet, or as it was before */
  resized() {
    const em = parseFloat(getComputedStyle(this.window).fontSize) / UNITS_PER_EM;
    const width = Math.round(this.window.clientWidth / em);
    const room = roomFor(document.documentElement.clientHeight / em, width);
    if (!width || (this.size && width === this.size.width && room === this.size.room)) return null;
    this.size = { width, room };
    return this.size;
  }

  /**
   * @param {{width: number, height: number}} natural   units of 14 px text
   * @param {number} room                             the most that the window may be high, in units
   */
  setNatural(natural, room) {
    this.natural = natural;
    this.room = room;
    this.last = null;
    this.picture.setAttribute('viewBox', `0 0 ${natural.width} ${natural.height}`);
    const look = looks.has(this.scene) ? looks.get(this.scene) : 1;
    this.scale = look ?? this.wholeScale();
    this.resize();
  }

  resize() {
    this.window.style.height = this.height() / UNITS_PER_EM + 'em';
    this.picture.style.width = (this.natural.width * this.scale) / UNITS_PER_EM + 'em';
    this.picture.style.height = (this.natural.height * this.scale) / UNITS_PER_EM + 'em';
    this.window.classList.toggle('sv-zoomed', this.scale > 1.001);
    this.window.classList.toggle('sv-taller', this.isTaller());
    this.window.classList.toggle('sv-wider', this.overflows());
    this.window.classList.toggle('sv-far', this.scale < FAR);
    this.hint();
  }

  /** Shows at its sides that the picture goes on there, and what the button would do. */
  hint() {
    const { scrollLeft, scrollWidth, clientWidth, classList } = this.window;
    classList.toggle('sv-more-before', scrollLeft > 2);
    classList.toggle('sv-more-after', scrollLeft + clientWidth < scrollWidth - 2);
    const whole = this.isWhole();
    this.fitting.textContent = this.scene.words.text(whole ? 'zoom_natural' : 'zoom_whole');
    this.fitting.hidden = whole && this.scale > 0.99;
  }

  /** Of the window, in units. */
  height() {
    return Math.min(this.room, this.natural.height * Math.min(1, this.scale));
  }

  isTaller() {
    return this.natural.height * this.scale > this.height() + 1;
  }

  overflows() {
    return this.window.scrollWidth > this.window.clientWidth + 2;
  }

  /** One step in (1) or out (-1); 0: as much as shows the whole picture, or back to its natural size. */
  zoom(direction) {
    if (direction) return this.zoomTo(this.scale * ZOOM_STEP ** direction);
    const whole = this.isWhole();
    this.zoomTo(whole ? 1 : this.wholeScale());
    if (!whole) looks.set(this.scene, null);
    if (whole && this.line) this.follow(this.line);
    return undefined;
  }

  isWhole() {
    return Math.abs(this.scale - this.wholeScale()) < 0.01;
  }

  /** The scale at which all of it is in the window. */
  wholeScale() {
    return Math.min(1, this.window.clientWidth / this.pixels(this.natural.width), this.room / this.natural.height);
  }

  pixels(units) {
    return (units / UNITS_PER_EM) * parseFloat(getComputedStyle(this.window).fontSize);
  }

  /** The point (x, y) of the window, in its pixels, stays where it is. */
  zoomTo(wanted, x = this.window.clientWidth / 2, y = this.window.clientHeight / 2) {
    const before = this.scale;
    this.last = null;
    this.scale = Math.max(Math.min(0.25, this.wholeScale()), Math.min(ZOOM_MOST, wanted));
    looks.set(this.scene, this.scale);
    const { scrollLeft, scrollTop } = this.window;
    this.resize();
    const ratio = this.scale / before;
    this.window.scrollLeft = (scrollLeft + x) * ratio - x;
    this.window.scrollTop = (scrollTop + y) * ratio - y;
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const box = this.window.getBoundingClientRect();
      this.zoomTo(this.scale * Math.exp(-event.deltaY / 240), event.clientX - box.left, event.clientY - box.top);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && this.overflows()) {
      event.preventDefault();
      this.window.scrollLeft += event.deltaX;
    }
  }

  /** Drags the picture; a press that does not move stays a click. */
  press(event) {
    let { clientX, clientY } = event;
    const onBar = clientX > this.window.getBoundingClientRect().left + this.window.clientWidth;
    if (event.button || !event.isPrimary || onBar) return;
    let dragging = false;
    const move = (next) => {
      const [dx, dy] = [clientX - next.clientX, clientY - next.clientY];
      if (!dragging && Math.hypot(dx, dy) < 5) return;
      if (!dragging) this.window.setPointerCapture(event.pointerId); // not before: it would take the click from the node
      dragging = true;
      [clientX, clientY] = [next.clientX, next.clientY];
      this.window.scrollLeft += dx;
      this.window.scrollTop += dy;
    };
    const end = () => {
      this.window.removeEventListener('pointermove', move);
      for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) this.window.removeEventListener(name, end);
    };
    this.window.addEventListener('pointermove', move);
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) this.window.addEventListener(name, end);
  }

  /** Two fingers zoom and pan. */
  pinch(event) {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches;
    const box = this.window.getBoundingClientRect();
    const now = { x: (a.clientX + b.clientX) / 2 - box.left, y: (a.clientY + b.clientY) / 2 - box.top, d: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) };
    if (this.fingers) {
      this.zoomTo((this.scale * now.d) / this.fingers.d, now.x, now.y);
      this.window.scrollLeft += this.fingers.x - now.x;
      this.window.scrollTop += this.fingers.y - now.y;
    }
    this.fingers = now;
  }

  /**
   * Brings places of the picture, in units, into the window as far as it must: the last of them, and those before it
   * where there is room. Not where the reader has turned away from them.
   * @param {{x: number, y: number}[]} line
   */
  follow(line) {
    const { window, last } = this;
    this.line = line;
    this.last = line.at(-1);
    if (last && !this.shows(last) && !this.shows(this.last)) return;
    const along = (axis) => line.map((place) => this.pixels(place[axis] * this.scale)).reverse();
    if (this.overflows()) window.scrollLeft = scrollWithin(along('x'), window.scrollLeft, window.clientWidth);
    if (this.isTaller()) window.scrollTop = scrollWithin(along('y'), window.scrollTop, window.clientHeight);
  }

  /** How far the picture is scrolled, in units. */
  top() {
    return this.window.scrollTop / this.pixels(this.scale) || 0; // not a number once it has left the page
  }

  shows({ x, y }) {
    const { window, scale } = this;
    const [left, top] = [this.pixels(x * scale) - window.scrollLeft, this.pixels(y * scale) - window.scrollTop];
    return left >= 0 && left <= window.clientWidth && top >= 0 && top <= window.clientHeight;
  }

  /** Has the page scroll to a height of the picture, in units, as far as it must. */
  reveal(y) {
    this.anchor.style.top = (y * this.scale) / UNITS_PER_EM + 'em';
    this.anchor.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}
