import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewOn, receive } from '../../assets/js/app/stages.js';
import { rejectedRound } from './sample.mjs';

/** A stage that only notes what it is told. */
function own(trace = null) {
  const told = [];
  const note = (name) => (value) => void told.push([name, value]);
  const stage = { set: note('set'), append: note('append'), seek: note('seek'), play: note('play'), cursorAt: (r) => 100 + r };
  return { trace, run: trace && 1, status: null, cursor: 7, view: { round: 0, playing: false }, position: null, read: null, asked: 0, stage, told };
}
const trace = (rounds) => ({ rounds, vocab: { 1: 'a' }, finish: null, baseline_ms: null });
const append = (at, rounds, run = 1) => ({ run, at, rounds, vocab: { 2: 'b' }, finish: 'length', baseline_ms: 5 });

test('a whole trace is shown from its beginning and played', () => {
  const it = own();
  receive(it, JSON.stringify({ id: 'x', trace: trace([]), play: true }), assert.fail);
  assert.deepEqual(it.told.map(([name]) => name), ['set', 'play']);
  assert.equal(it.told[0][1].cursor, 0);
});

test('a message is read once', () => {
  const it = own();
  receive(it, JSON.stringify({ id: 'x', trace: trace([]) }), assert.fail);
  const before = it.told.length;
  receive(it, JSON.stringify({ id: 'x', trace: trace([]) }), assert.fail);
  assert.equal(it.told.length, before);
});

test('what fits is appended, and what is known already is not', () => {
  const first = trace([rejectedRound(0)]);
  const it = own(first);
  receive(it, JSON.stringify({ id: 'x', append: append(0, [rejectedRound(0), rejectedRound(1)]) }), assert.fail);
  assert.equal(it.trace.rounds.length, 2);
  assert.deepEqual(it.trace.vocab, { 1: 'a', 2: 'b' });
  assert.equal(it.trace.finish, 'length');
  assert.equal(it.told[0][1].rounds.length, 1);
  assert.equal(first.rounds.length, 1);
});

test('what does not fit asks for the whole trace, but not with every message', () => {
  const it = own(trace([]));
  let asked = 0;
  receive(it, JSON.stringify({ id: 'x', append: append(2, [rejectedRound(2)]) }), () => asked++);
  receive(it, JSON.stringify({ id: 'y', append: append(3, [rejectedRound(3)]) }), () => asked++);
  assert.equal(asked, 1);
  assert.equal(it.trace.rounds.length, 0);
});

test('the answer keeps the cursor', () => {
  const it = own(trace([]));
  receive(it, JSON.stringify({ id: 'x', trace: trace([rejectedRound(0)]), play: false, keep: true }), assert.fail);
  assert.equal(it.told[0][1].cursor, 7);
  assert.deepEqual(it.told.map(([name]) => name), ['set']);
});

test('a new round is gone to', () => {
  const it = own(trace([rejectedRound(0)]));
  receive(it, JSON.stringify({ id: 'x', append: append(1, [rejectedRound(1)]), at: 1 }), assert.fail);
  assert.deepEqual(it.told.slice(1), [['seek', 101], ['play', undefined]]);
});

test('rounds of another run are not mixed in', () => {
  const it = own(trace([rejectedRound(0)]));
  let asked = 0;
  receive(it, JSON.stringify({ id: 'x', append: append(1, [rejectedRound(1)], 2) }), () => asked++);
  assert.equal(asked, 1);
  assert.equal(it.trace.rounds.length, 1);
});

test('an edited tree is previewed once, and only on the run that it was edited for', () => {
  const it = { ...own(trace([])), preview: '', edited: null };
  const shape = (choices, run = 1) => JSON.stringify({ run, round: 0, choices, parents: [-1], layout: {}, same: [null] });
  previewOn(it, shape([[0]])); // nobody edits: another run's settings are coming in
  it.edited = 1;
  previewOn(it, shape([[0]], 2));
  assert.deepEqual(it.told, []);
  previewOn(it, shape([[0]]));
  previewOn(it, shape([[0]])); // the round turned meanwhile: no other tree
  previewOn(it, shape([[1]]));
  previewOn(it, '');
  previewOn(it, '');
  assert.deepEqual(it.told.map(([, { preview }]) => preview && preview.choices), [[[0]], [[1]], null]);
});
