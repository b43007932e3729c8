/** Making elements, and binding them to steps of the timeline. */
import { progressAt } from './timeline.js';

const SVG = 'http://www.w3.org/2000/svg';

/** Icons on a 16 x 16 field, drawn with the text's colour; never the only sign of a status. */
const ICON_PATHS = {
  accepted: 'M3.5 8.5l3 3 6-7',
  rejected: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  unreached: 'M4.5 8h7',
  recovered: 'M12.5 8a4.5 4.5 0 1 1-1.5-3.4M11.3 1.8v3h-3',
  bonus: 'M8 2.2l1.7 3.7 4 .4-3 2.7.9 4L8 11l-3.6 2 .9-4-3-2.7 4-.4z',
  target: 'M8 3.2a4.8 4.8 0 1 0 .01 0M8 7.2a.8.8 0 1 0 .01 0',
  drawn: 'M10 3.5L5.5 8l4.5 4.5',
  set: 'M3 13l.8-3L10.5 3.3l2.2 2.2L6 12.2z',
  fork: 'M4.5 2.5v11M4.5 10c0-3 7-1.5 7-5.5M9.5 5.5l2-2.5 2 2.5',
  slow: 'M3 5l5 6 5-6',
  fast: 'M3 11l5-6 5 6',
};

/** An element with children; strings become text, nothing is ever parsed as HTML. */
export function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.flat().filter((child) => child != null));
  return node;
}

/** A button that submits nothing. */
export function button(className, onclick, ...children) {
  const node = el('button', className, ...children);
  node.type = 'button';
  node.addEventListener('click', onclick);
  return node;
}

export function svgEl(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function icon(name) {
  return svgEl('svg', { viewBox: '0 0 16 16', class: 'sv-icon sv-icon-' + name, 'aria-hidden': 'true' }, svgEl('path', { d: iconPath(name) }));
}

/** The drawing of an icon, for pictures that hold it. */
export function iconPath(name) {
  return ICON_PATHS[name];
}

/** Numbers handed to the style sheet as custom properties. */
export function setVars(node, vars) {
  for (const [name, value] of Object.entries(vars)) node.style.setProperty('--' + name, String(value));
  return node;
}

/**
 * Elements that follow one step each. The style sheet turns --t (0..1) into position, width and opacity, so a frame
 * is nothing but a few numbers; data-on says the same in words: "" (not yet), "now", "done".
 */
export class Binder {
  constructor() {
    this.bound = [];
  }

  /** Binds `node` to the step with this number, and returns it. */
  bind(node, step) {
    this.bound.push({ node, step, t: -1 });
    return node;
  }

  paint(cursor) {
    for (const item of this.bound) {
      const t = progressAt(cursor, item.step);
      if (t === item.t) continue;
      item.t = t;
      item.node.style.setProperty('--t', t.toFixed(3));
      item.node.dataset.on = t <= 0 ? '' : t < 1 ? 'now' : 'done';
    }
  }
}
