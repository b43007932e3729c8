import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interrupted, interruptedRun, keepInterrupted, lost } from '../../assets/js/app/silence.js';
import { listen, receive } from '../../assets/js/app/stages.js';
import { rejectedRound } from './sample.mjs';

globalThis.SpecvizStrings = { en: { 'ui.connection_lost': 'Lost.', 'ui.lost_title': 'No connection', 'ui.failed': 'That did not work' } };
globalThis.location = { search: '?lang=en' };
globalThis.document = { documentElement: {}, dispatchEvent() {} };
globalThis.CustomEvent = class {};

const LATE = 15_001;
const running = { kind: 'running' };
const config = { seed: 5 };

function own(status, heard = 0, more = {}) {
  const told = [];
  const stage = { set: (value) => told.push(value), append() {} };
  return { status, heard, trace: { config, finish: null, rounds: [{ ...rejectedRound(0), layout: { x: 1 } }], vocab: {} }, run: 1, view: {}, read: null, stage, told, ...more };
}

/** As much of a tab's storage as is used, with room for so many characters. */
function storage(room = 100) {
  const held = new Map();
  return {
    setItem(name, value) {
      if (value.length > room) throw new Error('QuotaExceededError');
      held.set(name, value);
    },
    getItem: (name) => (held.has(name) ? held.get(name) : null),
    removeItem: (name) => held.delete(name),
  };
}

test('who waits for a run and hears nothing is told that the connection is lost', () => {
  for (const kind of ['running', 'queued', 'loading']) {
    assert.equal(lost(own({ kind }), LATE - 2), null);
    assert.equal(lost(own({ kind }), LATE).kind, 'error');
  }
  for (const status of [null, { kind: 'error', key: 'x' }, { kind: 'empty' }]) assert.equal(lost(own(status), 10 * LATE), null);
});

test('the stage says so once, keeps its rounds, and comes back with the next message', () => {
  const it = own(running);
  listen(it, LATE);
  listen(it, 2 * LATE);
  assert.deepEqual(it.told.map(({ status }) => [status.kind, status.title, status.text]), [['error', 'No connection', 'Lost.']]);
  assert.equal(it.trace.rounds.length, 1);
  receive(it, JSON.stringify({ id: 'x', status: running }), assert.fail);
  assert.equal(it.status.kind, 'running');
  assert.ok(Date.now() - it.heard < 1000);
});

test('an interrupted run is kept as a file holds it', () => {
  for (const status of [running, lost(own(running), LATE)]) {
    const kept = JSON.parse(interruptedRun(own(status)));
    assert.equal(kept.rounds.length, 1);
    assert.equal(kept.rounds[0].layout, undefined);
  }
});

test('nothing is kept where no run was interrupted, or where going on would not be the same run', () => {
  const finished = { config, finish: 'length', rounds: [rejectedRound(0)] };
  const rounded = { config: { seed: 2 ** 63 }, finish: null, rounds: [rejectedRound(0)] };
  const empty = { config, finish: null, rounds: [] };
  assert.equal(interruptedRun(own(null)), '');
  assert.equal(interruptedRun(own({ kind: 'error', key: 'errors.nan' })), '');
  for (const trace of [null, finished, rounded, empty]) assert.equal(interruptedRun(own(running, 0, { trace })), '');
});

test('what was kept comes back once, and half of it never', () => {
  const small = storage();
  keepInterrupted('a run', small);
  assert.equal(interrupted(small), 'a run');
  assert.equal(interrupted(small), '');
  keepInterrupted('', small);
  assert.equal(interrupted(small), '');
  keepInterrupted('a run', small);
  keepInterrupted('x'.repeat(200), small);
  assert.equal(interrupted(small), '');
});
