/** The Proof tab: ties the toy lab (assets/js/proof) to Gradio and to the page's language. */
import { currentLanguage, wordsOf } from './language.js';

let toyLab = null;
let keptBars = null; // the last p and q, also after Gradio has mounted the component anew

function labWords(lang) {
  return { lang, strings: wordsOf(lang, 'proof.') };
}

/** Called by Gradio when the component is mounted: the first time the tab is opened. */
export function attachToy({ element, props, trigger, watch }) {
  if (toyLab) {
    toyBars();
    toyLab.destroy();
  }
  toyLab = globalThis.SpecvizProof.mount(element.querySelector('.pf-host'), {
    ...labWords(currentLanguage()),
    ondraw: (asked) => trigger('draw', asked),
  });
  if (keptBars) toyLab.change(keptBars);
  watch('value', () => {
    if (props.value) toyLab.set({ draws: JSON.parse(props.value) });
  });
}

/** The toy's bars, as the check wants them. */
export function toyBars() {
  if (toyLab) keptBars = { p: toyLab.p, q: toyLab.q };
  return JSON.stringify(keptBars);
}

/** Which fields the check has: those of the toy or of the pair. */
export function markProof(where) {
  document.body.dataset.svProof = where;
}

export function followProof() {
  document.addEventListener('specviz:language', ({ detail }) => {
    if (toyLab && toyLab.lang !== detail) toyLab.set(labWords(detail));
  });
}
