import assert from 'node:assert/strict';
import test from 'node:test';

import { Words } from '../../assets/js/stage/words.js';

const words = new Words({ a: '{n} steps, {ms} ms', a_one: '1 step, {ms} ms', b: '{n} rows' }, { 7: ' is' });

test('one thing is counted in the singular, where a language has one', () => {
  assert.equal(words.text('a', { n: 1, ms: 5 }), '1 step, 5 ms');
  assert.equal(words.text('a', { n: 2, ms: 5 }), '2 steps, 5 ms');
  assert.equal(words.text('b', { n: 1 }), '1 rows');
  assert.equal(words.plain({ key: 'a', values: { n: 1, ms: 3 } }), '1 step, 3 ms');
});

test('a missing key shows itself', () => {
  assert.equal(words.text('c'), '⟨c⟩');
});
