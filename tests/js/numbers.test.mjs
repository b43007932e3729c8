import assert from 'node:assert/strict';
import test from 'node:test';

import { fillTemplate, formatMillionths, formatMs, formatPair, formatPercent, formatProb, formatRatio } from '../../assets/js/stage/numbers.js';

test('probabilities: two significant digits, and never 0 or 1 for what is not', () => {
  const cases = [[0, '0'], [1, '1'], [0.5, '0.50'], [0.997, '0.997'], [0.99968, '0.9997'], [0.999999, '≈ 1'], [0.0995, '0.10'], [0.0123, '0.012'], [0.0097, '0.0097'], [0.00031, '0.00031'], [0.000001, '0.000001'], [1e-7, '< 0.000001'], [null, '–'], [NaN, '–']];
  for (const [x, text] of cases) assert.equal(formatProb(x), text, String(x));
});

test('a recorded zero is below one millionth, unless the distribution is one-hot', () => {
  assert.equal(formatMillionths(0, false), '< 0.000001');
  assert.equal(formatMillionths(0, true), '0');
  assert.equal(formatMillionths(850000, false), '0.85');
  assert.equal(formatMillionths(null, false), '–');
});

test('compared numbers differ on paper when they differ', () => {
  assert.deepEqual(formatPair(0.31, 0.72), ['0.31', '0.72']);
  assert.deepEqual(formatPair(0.3141, 0.3144), ['0.3141', '0.3144']);
  assert.deepEqual(formatPair(0, 0.5), ['0', '0.50']);
  assert.deepEqual(formatPair(1, 0.99999999), ['1', '≈ 1']);
  const [a, u] = formatPair(0.000000012, 0.000000013);
  assert.notEqual(a, u);
});

test('ratio, time, percent', () => {
  assert.deepEqual([0.3, 1, 2.0714, 500, Infinity].map(formatRatio), ['0.30', '1', '2.07', '> 100', '∞']);
  assert.deepEqual([144.2, 3.14, 0.04, 0.001, null].map(formatMs), ['144', '3.1', '0.04', '< 0.01', '–']);
  assert.equal(formatPercent(0.647), '65 %');
  assert.equal(formatPercent(null), '–');
});

test('templates: unknown names stay, values may hold braces and dollars', () => {
  assert.equal(fillTemplate('{a} {b} {c}', { a: '{b}', b: '$&' }), '{b} $& {c}');
});
