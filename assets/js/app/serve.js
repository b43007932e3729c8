/** The Serve tab: copying code. */
import { text } from './language.js';

const SHOWN = 1500; // ms that a button says it has copied

/** Puts the code in a part of the page into the clipboard; where that is not allowed, selects it to be copied by hand. */
export async function copyCode(id) {
  const code = document.querySelector('#' + id + ' code');
  if (!code) return { __type__: 'update' };
  let key = 'serve.copied';
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    getSelection().selectAllChildren(code);
    key = 'serve.copy_by_hand';
  }
  return { __type__: 'update', value: text(key) };
}

/** The button as it was, a moment later. */
export async function copyAgain() {
  await new Promise((done) => setTimeout(done, SHOWN));
  return { __type__: 'update', value: text('serve.copy') };
}
