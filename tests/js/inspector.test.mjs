import assert from 'node:assert/strict';
import test from 'node:test';

import { inspected } from '../../assets/js/stage/inspected.js';
import { Selection } from '../../assets/js/stage/selection.js';
import { buildTimeline, cursorFor, viewAt } from '../../assets/js/stage/timeline.js';
import { acceptChance, boardShape, distributionAt, drafterOf, isOneHot, isPlain, likelihoodRatio, tokensBefore, topRows } from '../../assets/js/stage/trace.js';
import { keyAction } from '../../assets/js/stage/keys.js';
import { bonusRound, endedRound, greedyRound, plainRound, rejectedRound, traceOf } from './sample.mjs';

function at(trace, round, phase, index, pinned = null, back = 0) {
  const timeline = buildTimeline(trace);
  return inspected(trace, timeline, viewAt(timeline, cursorFor(timeline, round, phase, index) - back), pinned);
}

test('the inspector follows the run and never tells more than was shown', () => {
  const trace = traceOf([rejectedRound()]);
  assert.deepEqual(at(trace, 0, 'gate', 1, null, 0.5), { position: 1, subject: 'draft', passed: true, open: true, kind: null, drawn: false, judged: false, context: 1 });
  assert.equal(at(trace, 0, 'gate', 1).kind, 'rejected');
  assert.equal(at(trace, 0, 'gate', 1, 2).kind, 'unreached');
  assert.equal(at(trace, 0, 'gate', 0, 2).kind, null);
  assert.equal(at(trace, 0, 'draft', 0, 2).subject, 'hidden');
  assert.equal(at(trace, 0, undefined, 0, 2).subject, 'hidden'); // pinned before anything is drafted
  assert.equal(at(trace, 0, undefined, 0), null);
  assert.deepEqual([at(trace, 0, 'outcome').subject, at(trace, 0, 'outcome').kind], ['final', 'recovered']);
  assert.equal(at(trace, 0, 'outcome', 0, null, 0.8).kind, null);
  assert.equal(at(trace, 0, 'outcome', 0, 1).subject, 'draft'); // pinned: the rejected draft itself
  assert.equal(at(trace, 0, 'commit', 0, 3).subject, 'extra');
});

test('rounds without draft or without final token', () => {
  assert.deepEqual([at(traceOf([plainRound(0)]), 0, 'outcome').subject, at(traceOf([plainRound(0)]), 0, 'pass').position], ['final', 0]);
  const ended = at(traceOf([endedRound(0)]), 0, 'outcome');
  assert.deepEqual([ended.position, ended.kind], [0, 'accepted']);
});

test('ratios never divide by zero', () => {
  assert.equal(likelihoodRatio({ p: 0.5, q: 0 }), Infinity);
  assert.equal(likelihoodRatio({ p: 0, q: 0 }), 0);
  assert.equal(acceptChance({ p: 0.8, q: 0.5 }), 1);
});

test('what follows from a round alone', () => {
  assert.equal(isOneHot(greedyRound()), true);
  assert.equal(isOneHot(rejectedRound()), false);
  assert.equal(drafterOf(traceOf([]), plainRound()), 'none');
  const rare = rejectedRound();
  rare.draft.tokens[0] = 77; // set by hand, too unlikely to be recorded
  assert.ok(distributionAt(rare, 0).some((row) => row.id === 77 && row.p === 800000));
});

test('the first rows always hold the tokens that matter', () => {
  const rows = [{ id: 1, p: 5 }, { id: 2, p: 4 }, { id: 3, p: 3 }, { id: 4, p: 0 }];
  assert.deepEqual(topRows(rows, (r) => r.p, 2, [4]).map((r) => r.id), [1, 4]);
  assert.deepEqual(topRows(rows, (r) => r.p, 9, []).map((r) => r.id), [1, 2, 3]);
});

test('the board has the same rows in all rounds of a trace', () => {
  const shape = (method, more) => boardShape(traceOf([rejectedRound(), plainRound(1, 12)], { config: { method }, ...more }));
  assert.deepEqual(shape('draft'), { gates: true, draftCache: true, columns: 4 });
  assert.deepEqual(shape('lookup'), { gates: true, draftCache: false, columns: 4 });
  const plain = traceOf([plainRound(0)], { config: { method: 'none' } });
  assert.deepEqual(boardShape(plain), { gates: false, draftCache: false, columns: 1 });
  assert.equal(isPlain(plain), true);
  const forked = shape('none', { forked_at: 1 });
  assert.deepEqual([forked.gates, forked.draftCache, forked.columns], [true, true, 4]);
});

test('the tokens before a round', () => {
  const trace = traceOf([rejectedRound(), bonusRound()]);
  assert.deepEqual(tokensBefore(trace, 1, 3), [9, 1, 4]);
  assert.deepEqual(tokensBefore(trace, 0, 3), [9, 9]);
});

test('keys', () => {
  const press = (key, more) => keyAction({ key, ...more });
  assert.equal(press('ArrowRight'), 'nextStep');
  assert.equal(press('ArrowRight', { shiftKey: true }), 'nextRound');
  assert.equal(press('ArrowRight', { ctrlKey: true }), null);
  assert.equal(press('x'), null);
});

test('a selection is told once per change', () => {
  const told = [];
  const selection = new Selection((place) => told.push(place));
  selection.clear();
  selection.toggle(3, selection.neighbour(-1, 6));
  selection.toggle(3, selection.neighbour(-1, 6));
  selection.toggle(3, 4);
  assert.deepEqual(told, [{ round: 3, position: 5, branch: null }, { round: 3, position: 4, branch: null }, null]);
});
