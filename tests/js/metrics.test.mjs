import assert from 'node:assert/strict';
import test from 'node:test';

import { measure, roundMs } from '../../assets/js/stage/metrics.js';
import { bonusRound, plainRound, rejectedRound, traceOf } from './sample.mjs';

/** A round of k drafted tokens with the first `a` accepted. */
function round(k, a) {
  const base = bonusRound();
  return { ...base, draft: { tokens: Array(k).fill(1), parents: Array.from({ length: k }, (_, i) => i - 1), q: [] }, path: Array.from({ length: a }, (_, i) => i) };
}

test('k = 4 with [4, 0, 2] accepted', () => {
  const m = measure(traceOf([round(4, 4), round(4, 0), round(4, 2)]), 3);
  assert.deepEqual([m.drafted, m.accepted, m.emitted, m.rate, m.perRound, m.saved], [12, 6, 9, 0.5, 3, 6]);
  assert.deepEqual(m.perPosition, [2 / 3, 2 / 3, 1 / 3, 1 / 3]);
});

test('nothing drafted, nothing divided by zero', () => {
  const none = measure(traceOf([]), 0);
  assert.deepEqual([none.rate, none.perRound, none.tokensPerSecond, none.speedup], [null, null, null, null]);
  const plain = measure(traceOf([plainRound(0)]), 1);
  assert.deepEqual([plain.rate, plain.perRound, plain.saved, plain.perPosition], [null, 1, 0, []]);
});

test('speed counts every part of a round but the prefill, next to the measured plain step', () => {
  const slow = rejectedRound();
  slow.times.prefill = 5000;
  const m = measure(traceOf([slow]), 1);
  assert.equal(m.tokensPerSecond, 2000 / 92);
  assert.equal(m.plainTokensPerSecond, 20);
  assert.equal(m.speedup, 2000 / 92 / 20);
  assert.equal(measure(traceOf([slow], { baseline_ms: null }), 1).speedup, null);
});

test('what a step costs', () => {
  const m = measure(traceOf([rejectedRound(), bonusRound(), plainRound()]), 3);
  assert.deepEqual([m.draftStepMs, m.checkMs], [10, 59]); // the plain round checks nothing
  assert.equal(roundMs(rejectedRound()), 92);
});

test('only finished rounds count', () => {
  assert.equal(measure(traceOf([rejectedRound(), bonusRound()]), 1).emitted, 2);
});
