/** What the page's controls do in the browser alone. Each function returns values or updates for Gradio's components. */
import { update } from './labels.js';
import { currentLanguage, text } from './language.js';
import { MAIN, attendTo, pauseStage, peek } from './stages.js';
import { currentTab } from './tabs.js';

const CHINESE = /[\u3400-\u9fff]/;
const BUNDLED = 'smollm2-135m';

/** The language that the page opens with. */
export function language() {
  document.documentElement.style.colorScheme = document.body.classList.contains('dark') ? 'dark' : 'light'; // scroll bars
  return currentLanguage();
}

export function example(name) {
  return text('ui.prompt_' + name);
}

/** What is good to know about this prompt, as HTML of our own words. */
export function notes(prompt, pair) {
  return CHINESE.test(prompt) && pair === BUNDLED ? '<p>' + text('ui.note_english') + '</p>' : '';
}

/**
 * Shows or hides a part of the page; its button, with the id of the part and "-button", says which. What is filled in
 * there is about the run on the stage, which waits meanwhile.
 */
export function unfold(part) {
  const open = !document.getElementById(part).classList.contains('sv-open');
  if (open) pauseStage(MAIN);
  setFold(part, open);
}

/**
 * A run comes: what it is made of is folded away, but a tree that cannot be read stays in sight. The page follows a run
 * that was asked for, not a recorded one.
 */
export function fold(follow) {
  if (follow) attendTo(MAIN);
  if (currentTab() !== 'tree') return;
  setFold('sv-more', false);
  if (!document.querySelector('#sv-tree-told .sv-wrong')) setFold('sv-edit', false);
}

function setFold(part, open) {
  document.getElementById(part).classList.toggle('sv-open', open);
  document.getElementById(part + '-button').setAttribute('aria-expanded', String(open));
}

/** Shows one field of a form; `placed` are the changes that happen at a position. The last update is the position's. */
export function onlyOne(change, names, placed) {
  return [...names.map((name) => update({ visible: name === change })), update({ visible: placed.includes(change) })];
}

const FILE_KINDS = { json: 'application/json', html: 'text/html' };

/** Saves the run on the stage as a file of the visitor's: kind json or html. */
export function download(text, kind) {
  if (!text) return;
  const { models, config } = peek(MAIN).trace;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: FILE_KINDS[kind] }));
  link.download = ['specviz', models.pair, config.method, 'k' + config.k].join('-') + '.' + kind;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A link that opens the page with these settings: into the clipboard, and on show to be copied by hand. */
export async function copyLink(names, limit, values) {
  const size = [...values[names.indexOf('prompt')]].length;
  if (size > limit) return update({ value: '', visible: true, label: text('ui.link_long', { size, limit }) });
  const query = new URLSearchParams();
  names.forEach((name, i) => {
    const value = values[i];
    if (value !== '' && value !== null) query.set(name, value === true ? '1' : value === false ? '0' : String(value));
  });
  query.set('tab', currentTab());
  query.set('lang', values[names.length]);
  const link = location.origin + location.pathname + '?' + query;
  let copied = true;
  try {
    await navigator.clipboard.writeText(link);
  } catch {
    copied = false; // no permission, or no secure context: the link is on show
  }
  return update({ value: link, visible: true, label: text(copied ? 'ui.address_copied' : 'ui.address') });
}
