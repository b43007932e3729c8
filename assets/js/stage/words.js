/** The words of one language, with numbers and token chips put into them. */
import { el } from './dom.js';
import { fillTemplate } from './numbers.js';
import { tokenName, tokenPiece } from './tokens.js';

const TOKEN_VALUES = ['tok', 'choice', 'refused']; // placeholders that hold a token id

export class Words {
  /**
   * @param {Object<string, string>} strings  stage.json of one language
   * @param {Object<string, string|object>} vocab
   */
  constructor(strings, vocab) {
    this.strings = strings;
    this.vocab = vocab;
  }

  /** The text of a key; with n = 1 its singular `<key>_one`, where there is one. */
  template(key, values) {
    const one = values && values.n === 1 ? this.strings[key + '_one'] : null;
    return one == null ? this.strings[key] : one;
  }

  /** Plain text. A missing key shows itself: it is a mistake that a test finds. */
  text(key, values) {
    const template = this.template(key, values);
    return template == null ? '⟨' + key + '⟩' : fillTemplate(template, values);
  }

  /** Plain text of a sentence, its tokens spelled out: for titles and screen readers. */
  plain({ key, values }) {
    const spelled = { ...values };
    for (const name of TOKEN_VALUES) if (spelled[name] != null) spelled[name] = tokenName(this.vocab, spelled[name]);
    return this.text(key, spelled);
  }

  /** Nodes of a sentence: text, bold numbers, token chips. */
  nodes({ key, values }) {
    const template = this.template(key, values);
    if (template == null) return ['⟨' + key + '⟩'];
    return template.split(/(\{\w+\})/).map((part) => {
      const name = /^\{(\w+)\}$/.test(part) ? part.slice(1, -1) : null;
      if (name === null || values[name] == null) return name === null ? part : '';
      if (TOKEN_VALUES.includes(name)) return tokenPiece(this.vocab, values[name], 'sv-inline');
      return el('b', '', String(values[name]));
    });
  }
}
