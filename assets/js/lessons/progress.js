/** Which questions have been answered, and how: kept in the browser. Where that is forbidden, until the page closes. */
const KEY = 'specviz.lessons';

export class Progress {
  /** @param {Storage|null} storage */
  constructor(storage) {
    this.storage = storage;
    this.answers = read(storage);
  }

  /** The choice that was given, or null. */
  given(id) {
    return this.answers[id] ?? null;
  }

  get count() {
    return Object.keys(this.answers).length;
  }

  answer(id, choice) {
    this.answers[id] = choice;
    this.save();
  }

  /** To be asked again. */
  forget(id) {
    delete this.answers[id];
    this.save();
  }

  save() {
    try {
      if (this.storage) this.storage.setItem(KEY, JSON.stringify(this.answers));
    } catch {
      this.storage = null; // full or forbidden: then it lasts as long as the page
    }
  }
}

/** What was kept; nothing where it is not readable. */
function read(storage) {
  try {
    const kept = JSON.parse((storage && storage.getItem(KEY)) || '{}');
    const fair = Object.entries(kept).filter(([, choice]) => Number.isInteger(choice));
    return Object.fromEntries(fair);
  } catch {
    return {};
  }
}

/** The browser's storage; asking for it alone can fail. */
export function browserStorage() {
  try {
    return globalThis.localStorage || null;
  } catch {
    return null;
  }
}
