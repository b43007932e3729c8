/** The small print under the stage: what ran and with which settings, and what is worth knowing about it. */
import { el } from './dom.js';
import { draftName } from './draftname.js';
import { isGreedyVerifier, isLossy } from './rule.js';
import { isTreeConfig, siblingsOf } from './trace.js';

const SIBLING_NAMES = { fixed: 'siblings_fixed', iid: 'siblings_iid', distinct: 'siblings_distinct' };

export function footnotes({ trace, words }) {
  const { config, models } = trace;
  const plain = config.method === 'none';
  const settings = [
    words.text(plain ? 'ran_plain' : config.method === 'lookup' ? 'ran_lookup' : 'ran', { ...models, draft: draftName(words, models.draft) }),
    plain ? null : isTreeConfig(config) ? words.text('tree_of', { n: config.nodes || config.tree.length }) : 'k = ' + config.k,
    isTreeConfig(config) ? words.text(SIBLING_NAMES[siblingsOf(config)]) : null,
    words.text('temperature', { t: config.temperature }),
    config.top_k ? 'top-k ' + config.top_k : null,
    config.top_p < 1 ? 'top-p ' + config.top_p : null,
    config.min_p ? 'min-p ' + config.min_p : null,
    words.text('seed', { s: config.seed }),
    [models.device, models.dtype].filter(Boolean).join(' ') || null,
  ];
  const note = el('p', 'sv-footnotes', el('span', '', settings.filter(Boolean).join(' · ')));
  if (isLossy(trace)) note.append(el('span', 'sv-remark sv-warn', words.text('typical_note', { eps: config.eps, delta: config.delta })));
  if (config.verify === 'block') note.append(el('span', 'sv-remark', words.text('block_note')));
  if (isGreedyVerifier(config)) note.append(el('span', 'sv-remark sv-warn', words.text('greedy_note')));
  if (config.method === 'skip') note.append(el('span', 'sv-remark', words.text('skip_note')));
  return note;
}
