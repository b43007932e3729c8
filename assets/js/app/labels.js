/** The words of Gradio's components, from the table in specviz/ui/labels.py: [id of a component, property -> key]. */
import { currentLanguage, setLanguage, text } from './language.js';
import { translateStages } from './stages.js';

let table = [];

/**
 * The page opens in the visitor's language: the words are put into Gradio's settings before it draws anything of them.
 * Should it keep those elsewhere one day, the page begins in English and turns when it is there, by `relabel`.
 */
export function openWith(rows) {
  table = rows;
  const settings = new Map(globalThis.gradio_config?.components.map((one) => [one.id, one.props]));
  for (const [id, row] of table) Object.assign(settings.get(id) ?? {}, wordsFor(row));
}

/** What Gradio takes as a change of a component. */
export function update(properties) {
  return { __type__: 'update', ...properties };
}

/** One update a component; the stages follow. */
export function relabel(lang) {
  setLanguage(lang);
  translateStages(lang);
  return table.map(([, row]) => update(wordsFor(row)));
}

function wordsFor(row) {
  const said = (value) => (typeof value === 'string' ? text(value) : value[currentLanguage()]);
  const entries = Object.entries(row).map(([name, value]) => [name, name === 'choices' ? value.map(([label, choice]) => [said(label), choice]) : text(value)]);
  return Object.fromEntries(entries);
}
