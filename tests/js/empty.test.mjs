import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { EmptyBoard } from '../../assets/js/stage/empty.js';
import { Words } from '../../assets/js/stage/words.js';
import './page.mjs';
import { traceOf } from './sample.mjs';

const strings = JSON.parse(readFileSync(new URL('../../assets/locales/en/stage.json', import.meta.url), 'utf8'));

/** Which keys explain the rows of the board before the first round. */
function explained(config) {
  const { element } = new EmptyBoard({ words: new Words(strings, {}), trace: traceOf([], { config }) });
  const labels = element.all.filter(({ dataset }) => 'explain' in dataset);
  for (const { dataset, ...label } of labels) assert.equal(label['aria-description'], dataset.explain);
  return labels.map(({ dataset }) => Object.keys(strings).find((key) => strings[key] === dataset.explain) ?? dataset.explain);
}

test('before the first round every row is explained as it will be in a round', () => {
  for (const [method, draft] of Object.entries({ draft: 'e_draft', skip: 'e_draft', eagle: 'e_draft', lookup: 'e_draft_lookup', medusa: 'e_draft_heads' })) {
    assert.deepEqual(explained({ method, verify: 'lossless' }), [draft, 'e_target', 'e_gate', 'e_verdict', 'e_out', 'e_lens'], method);
  }
  assert.deepEqual(explained({ method: 'none' }), ['e_target', 'e_out', 'e_lens']);
});

test('the gate row tells the rule of these settings', () => {
  const gate = (verify, temperature) => explained({ verify, temperature })[2];
  assert.deepEqual(['lossless', 'greedy', 'block', 'typical'].map((verify) => gate(verify, 0.8)), ['e_gate', 'e_gate_greedy', 'e_gate_block', 'e_gate_typical']);
  assert.deepEqual(['lossless', 'greedy', 'block', 'typical'].map((verify) => gate(verify, 0)), ['e_gate_greedy', 'e_gate_greedy', 'e_gate_block', 'e_gate_typical']);
});
