/** The small print under the stage: what ran and with which settings, and what is worth knowing about it. */
import { el } from './dom.js';

export function footnotes({ trace, words }) {
  const { config, models } = trace;
  const plain = config.method === 'none';
  const settings = [
    words.text(plain ? 'ran_plain' : config.method === 'lookup' ? 'ran_lookup' : 'ran', models),
    plain ? null : 'k = ' + config.k,
    words.text('temperature', { t: config.temperature }),
    config.top_k ? 'top-k ' + config.top_k : null,
    config.top_p < 1 ? 'top-p ' + config.top_p : null,
    config.min_p ? 'min-p ' + config.min_p : null,
    words.text('seed', { s: config.seed }),
    [models.device, models.dtype].filter(Boolean).join(' ') || null,
  ];
  const note = el('p', 'sv-footnotes', el('span', '', settings.filter(Boolean).join(' · ')));
  if (config.method === 'skip') note.append(el('span', 'sv-remark', words.text('skip_note')));
  return note;
}
