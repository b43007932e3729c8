import assert from 'node:assert/strict';
import test from 'node:test';

import { buildTimeline, cursorAtPlace, cursorFor, finishedRounds, neighbourRound, neighbourStep, progressAt, ribbonPlace, viewAt } from '../../assets/js/stage/timeline.js';
import { bonusRound, endedRound, plainRound, rejectedRound, traceOf } from './sample.mjs';

const trace = traceOf([rejectedRound(), bonusRound(), plainRound(), endedRound()]);
const timeline = buildTimeline(trace);
const phases = (round) => timeline.steps.filter((s) => s.round === round).map((s) => s.phase);

test('a round is drafts, one pass, a gate for each judged token, outcome, cache, commit', () => {
  assert.deepEqual(phases(0), ['draft', 'draft', 'draft', 'pass', 'gate', 'gate', 'outcome', 'cache', 'commit']);
  assert.deepEqual(phases(1), ['draft', 'draft', 'pass', 'gate', 'gate', 'outcome', 'cache', 'commit']);
});

test('without a draft there are no draft and gate steps', () => {
  assert.deepEqual(phases(2), ['pass', 'outcome', 'cache', 'commit']);
  assert.equal(timeline.rounds[2].lastGate, null);
});

test('an unreached token is settled by the rejection, or by the outcome where the text ended', () => {
  assert.equal(timeline.rounds[0].settled[2], timeline.rounds[0].gate[1]);
  assert.equal(timeline.rounds[3].settled[1], timeline.rounds[3].outcome);
});

test('the view at a cursor names step, fraction and whether its result is out', () => {
  assert.equal(viewAt(timeline, 0).phase, 'ready');
  const gate = timeline.rounds[0].gate[1];
  const asking = viewAt(timeline, gate + 0.5);
  assert.deepEqual([asking.phase, asking.index, asking.revealed], ['gate', 1, false]);
  assert.equal(viewAt(timeline, gate + 0.7).revealed, true);
  assert.equal(viewAt(timeline, gate + 1).fraction, 1);
  assert.equal(viewAt(timeline, 1e9).cursor, timeline.length);
});

test('a trace without rounds waits', () => {
  const empty = buildTimeline(traceOf([]));
  assert.equal(viewAt(empty, 5).phase, 'waiting');
  assert.equal(viewAt(empty, 5).round, -1);
  assert.equal(cursorFor(empty, 3, 'gate', 1), 0);
  assert.equal(ribbonPlace(empty, 0), 0);
  assert.equal(neighbourRound(empty, 0, 1), 0);
});

test('a cursor is the moment when its step is done', () => {
  assert.equal(cursorFor(timeline, 0, 'draft', 2), 3);
  assert.equal(cursorFor(timeline, 0, 'pass'), 4);
  assert.equal(cursorFor(timeline, 0, 'gate', 1), 6);
  assert.equal(cursorFor(timeline, 0, 'gate', 2), 6); // never reached: the last that was
  assert.equal(cursorFor(timeline, 1), timeline.rounds[1].first);
  assert.equal(cursorFor(timeline, 99, 'end'), timeline.length);
  assert.equal(cursorFor(timeline, 2, 'gate', 0), timeline.rounds[2].pass + 1);
});

test('appended rounds leave the earlier steps as they were', () => {
  const before = buildTimeline(traceOf(trace.rounds.slice(0, 2)));
  assert.deepEqual(timeline.steps.slice(0, before.length), before.steps);
  assert.deepEqual(timeline.rounds.slice(0, 2), before.rounds);
});

test('ribbon and cursor are each other\'s inverse on whole steps', () => {
  for (let cursor = 0; cursor < timeline.length; cursor++) assert.equal(cursorAtPlace(timeline, ribbonPlace(timeline, cursor)), cursor);
});

test('neighbours', () => {
  assert.equal(neighbourStep(timeline, 3.4, 1), 4);
  assert.equal(neighbourStep(timeline, 3.4, -1), 3);
  assert.equal(neighbourStep(timeline, 3, -1), 2);
  assert.equal(neighbourStep(timeline, 0, -1), 0);
  assert.equal(neighbourRound(timeline, 2, 1), 9);
  assert.equal(neighbourRound(timeline, 9, 1), 17);
  assert.equal(neighbourRound(timeline, 12, -1), 9);
  assert.equal(finishedRounds(timeline, 8.9), 0);
  assert.equal(finishedRounds(timeline, 9), 1);
  assert.equal(progressAt(3.25, 3), 0.25);
});
