/** The rows of a board: where they are, what they are called, what they mean. */
import { el, setVars } from './dom.js';
import { term } from './explain.js';

export const ROW = { draft: 1, pass: 2, gate: 3, verdict: 4, out: 5, lens: 6, kvDraft: 7, kvTarget: 8 };

const DRAFT_MEANING = { lookup: 'e_draft_lookup', medusa: 'e_draft_heads' };
const GATE_MEANING = { block: 'e_gate_block', typical: 'e_gate_typical' };

/** The grid. Many columns are narrow and short of words; a single one is kept from filling the whole width. */
export function boardElement({ gates, draftCache }, columns) {
  const width = columns > 9 ? ' sv-many' : columns < 2 ? ' sv-few' : '';
  return setVars(el('div', 'sv-board' + (gates ? '' : ' sv-no-gates') + (draftCache ? '' : ' sv-no-draft-cache') + width), { cols: columns });
}

/** The names of the rows that a board has, with what they mean, as a map from row to label. */
export function rowLabels(words, { gates }, { drafter, greedy, rule }, subs) {
  const rows = {
    draft: ['row_draft', DRAFT_MEANING[drafter] || 'e_draft', 'sv-draft'],
    pass: ['row_target', 'e_target', 'sv-target'],
    gate: ['row_gate', GATE_MEANING[rule] || (greedy ? 'e_gate_greedy' : 'e_gate'), ''],
    verdict: ['row_verdict', 'e_verdict', 'sv-wide-only'],
    out: ['row_out', 'e_out', gates ? 'sv-wide-only' : 'sv-label-out'],
    lens: ['row_lens', 'e_lens', 'sv-label-lens'],
  };
  const shown = Object.keys(rows).filter((row) => gates || !['draft', 'gate', 'verdict'].includes(row));
  return new Map(shown.map((row) => {
    const [name, key, tone] = rows[row];
    const captions = (subs[row] || []).map((text) => el('span', '', text));
    return [row, el('div', 'sv-label sv-row-' + row + ' ' + tone, el('b', '', term(words, key, '', words.text(name))), captions)];
  }));
}
