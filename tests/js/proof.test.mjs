/** The toy lab's algebra against known figures, and its moves against what must stay true. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, distance, put, shownAfter, split, stops, sum, wilson } from '../../assets/js/proof/algebra.js';

const P = [0.3, 0.25, 0.2, 0.15, 0.1];
const Q = [0.1, 0.15, 0.05, 0.3, 0.4];

function near(a, b, within = 1e-9) {
  assert.equal(a.length, b.length);
  a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) <= within, `${a} is not ${b}`));
}

test('the fixture of the engine tests: alpha .55, residual 4/9 2/9 3/9', () => {
  const { alpha, rejected, residual, out, less } = split(P, Q);
  near([alpha, rejected], [0.55, 0.45]);
  near(residual, [4 / 9, 2 / 9, 3 / 9, 0, 0]);
  near(out, P);
  near([sum(less)], [0.45]);
});

test('accepted + recovered = p, whatever is dragged', () => {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  let [p, q] = [P, Q];
  for (let i = 0; i < 300; i += 1) {
    if (i % 2) p = put(p, i % 5, random() < 0.1 ? 1 : random());
    else q = put(q, i % 5, random() < 0.1 ? 0 : random());
    near([sum(p), sum(q)], [1, 1]);
    const { out, alpha, rejected } = split(p, q);
    near(out, p, 1e-8);
    near([alpha + rejected], [1], 1e-8);
  }
});

test('equal and disjoint', () => {
  assert.equal(split(P, P).rejected, 0);
  near(split(P, P).out, P);
  const { alpha, out } = split([0.6, 0.4, 0], [0, 0, 1]);
  assert.equal(alpha, 0);
  near(out, [0.6, 0.4, 0]);
});

test('a bar set by hand: the others keep their proportions', () => {
  near(put(P, 0, 0.65), [0.65, 0.125, 0.1, 0.075, 0.05]);
  near(put([1, 0, 0], 0, 0.4), [0.4, 0.3, 0.3]);
  near(put(P, 1, 7), [0, 1, 0, 0, 0]);
  near([put(P, 2, -1)[2]], [0]);
});

test("Wilson's interval: 81 of 263 (Newcombe 1998)", () => {
  near(wilson(81, 263, 1.959964), [0.2553, 0.3662], 5e-5);
});

test('counting draws', () => {
  const draws = { token: '0120', accepted: '1010' };
  assert.deepEqual(count(draws, 3, 3), { counts: [1, 1, 1], accepted: 2 });
  near([distance([2, 1, 1], 4, [0.5, 0.5, 0])], [0.25]);
});

test('draws are shown one after another, all of them in the end', () => {
  assert.equal(shownAfter(60, 4000), 4000);
  let last = 0;
  for (let s = 0; s < 9; s += 0.1) {
    const n = shownAfter(s, 4000);
    assert.ok(n >= last && n <= 4000);
    last = n;
  }
  assert.equal(last, 4000);
  const at = stops(4000);
  assert.equal(at[0], 1);
  assert.equal(at.at(-1), 4000);
  assert.deepEqual([...at].sort((a, b) => a - b), at);
});
