/**
 * Words that explain themselves: a term is a small button that shows its explanation while it has the pointer or the
 * focus, or when it is tapped. Screen readers hear the same as its description.
 */
import { button, el } from './dom.js';

const ABOVE = 140; // px above the lower edge of the window from which on the bubble stands over its term

/** A term with its explanation; `children` is what is seen of it. */
export function term(words, key, className, ...children) {
  const node = button('sv-term' + (className ? ' ' + className : ''), () => {}, ...children);
  return explained(node, words.text(key));
}

/** Gives a node an explanation. */
export function explained(node, text) {
  node.dataset.explain = text;
  node.setAttribute('aria-description', text);
  return node;
}

/** The one bubble of a stage, and what makes it come and go. */
export class Bubble {
  constructor(host) {
    this.host = host;
    this.element = el('div', 'sv-bubble');
    this.element.setAttribute('aria-hidden', 'true'); // it is the term's description already
    this.hide();
    this.over = (event) => this.follow(event.target);
    this.out = () => this.hide();
    this.listeners = [['pointerover', this.over], ['focusin', this.over], ['click', this.over], ['pointerleave', this.out], ['focusout', this.out]];
    for (const [name, listener] of this.listeners) host.addEventListener(name, listener);
  }

  follow(target) {
    const node = target.closest('[data-explain]');
    if (node) this.show(node);
    else this.hide();
  }

  /** Takes the bubble away when its term has gone. */
  refresh() {
    if (this.node && !this.node.isConnected) this.hide();
  }

  show(node) {
    this.node = node;
    const { host, element } = this;
    element.textContent = node.dataset.explain;
    element.hidden = false;
    const [box, frame] = [node.getBoundingClientRect(), host.getBoundingClientRect()];
    const left = Math.max(0, Math.min(box.left - frame.left, frame.width - element.offsetWidth));
    const over = box.bottom > innerHeight - ABOVE;
    element.style.left = left + 'px';
    element.style.top = (over ? box.top - frame.top - element.offsetHeight - 6 : box.bottom - frame.top + 6) + 'px';
  }

  hide() {
    this.node = null;
    this.element.hidden = true;
  }

  destroy() {
    for (const [name, listener] of this.listeners) this.host.removeEventListener(name, listener);
  }
}
