/**
 * A sentence: `{key, values}`; the words are in stage.json, and a value named like a token (see words.js) is a token
 * id that becomes a chip. Pure.
 *
 * @typedef {{key: string, values: Object<string, string|number>}} Sentence
 */

/** @returns {Sentence} */
export function say(key, values) {
  return { key, values: values || {} };
}
