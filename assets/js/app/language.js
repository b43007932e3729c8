/** Which language the page speaks, and its words. The words of all languages are in the page (globalThis.SpecvizStrings). */
import { fillTemplate } from './../stage/numbers.js';

let chosen = null;

/** From the link (?lang=), else from the browser; English when in doubt. */
export function wantedLanguage() {
  const wish = new URLSearchParams(location.search).get('lang') || navigator.language || 'en';
  return /^zh/i.test(wish) ? 'zh-CN' : 'en';
}

export function currentLanguage() {
  if (chosen === null) setLanguage(wantedLanguage());
  return chosen;
}

export function setLanguage(lang) {
  chosen = lang in globalThis.SpecvizStrings ? lang : 'en';
  document.documentElement.lang = chosen;
  document.dispatchEvent(new CustomEvent('specviz:language', { detail: chosen }));
}

/**
 * The switch is heard at once, and not only when Gradio gets to it: while the page is still loading, what comes then
 * would set it back to the language of the link.
 */
export function followSwitch() {
  document.addEventListener('change', ({ target }) => target.closest('#sv-lang') && setLanguage(target.value), true);
}

/** A text of the page; `{name}` is filled in. */
export function text(key, values) {
  return fillTemplate(globalThis.SpecvizStrings[currentLanguage()][key], values);
}

/** The words of the stage alone, without their prefix, as Specviz.mount wants them. */
export function stageStrings(lang) {
  return wordsOf(lang, 'stage.');
}

/** The words of one area, without its prefix. */
export function wordsOf(lang, prefix) {
  const entries = Object.entries(globalThis.SpecvizStrings[lang]).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value]));
}
