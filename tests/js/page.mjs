/** As much of a page as it takes to make elements, without a browser: each keeps what it is given. Importing it puts it there. */
class Made {
  constructor(tagName) {
    Object.assign(this, { tagName, className: '', title: '', dataset: {}, nodes: [], style: { setProperty() {} } });
    this.classList = { add: (name) => { this.className += ' ' + name; } };
  }

  append(...nodes) {
    this.nodes.push(...nodes);
  }

  setAttribute(name, value) {
    this[name] = value;
  }

  addEventListener() {}

  get textContent() {
    return this.nodes.map((node) => node.textContent ?? node).join('');
  }

  /** Itself and all in it. */
  get all() {
    return [this, ...this.nodes.flatMap((node) => node.all ?? [])];
  }
}

globalThis.document = { createElement: (tagName) => new Made(tagName) };
