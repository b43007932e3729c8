/** Which questions have been answered, and how: kept in the browser. Where that is forbidden, until the page closes. */
const KEY = 'specviz.lessons';

export class Progress {
  /**
   * @param {Storage|null} storage
   * @param {Object<string, number>} choices   how many each lesson's question has, by the lesson's id
   */
  constructor(storage, choices) {
    this.storage = storage;
    this.choices = choices;
    this.answers = read(storage, choices);
  }

  /** The choice that was given, or null. */
  given(id) {
    return this.answers[id] ?? null;
  }

  get count() {
    return Object.keys(this.answers).length;
  }

  answer(id, choice) {
    this.refresh();
    this.answers[id] = choice;
    this.save();
  }

  /** To be asked again. */
  forget(id) {
    this.refresh();
    delete this.answers[id];
    this.save();
  }

  /** What was answered meanwhile in another tab of the browser. */
  refresh() {
    if (this.storage) this.answers = read(this.storage, this.choices);
  }

  save() {
    try {
      if (this.storage) this.storage.setItem(KEY, JSON.stringify(this.answers));
    } catch {
      this.storage = null; // full or forbidden: then it lasts as long as the page
    }
  }
}

/** What was kept, as far as it is an answer to a question of ours; nothing where it is not readable. */
function read(storage, choices) {
  try {
    const kept = JSON.parse((storage && storage.getItem(KEY)) || '{}');
    const fair = Object.entries(kept).filter(([id, choice]) => Object.hasOwn(choices, id) && Number.isInteger(choice) && choice >= 0 && choice < choices[id]);
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
