/** The course's pure parts: places, limits, keys, progress. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { courseKey } from '../../assets/js/lessons/keys.js';
import { cursorOf, lessonIndex, limitOf, neighbourPlace, stepsOf } from '../../assets/js/lessons/places.js';
import { Poll } from '../../assets/js/lessons/poll.js';
import { Progress } from '../../assets/js/lessons/progress.js';
import { buildTimeline, cursorFor } from '../../assets/js/stage/timeline.js';
import { rejectedRound } from './sample.mjs';

const timeline = buildTimeline({ config: { method: 'skip', tree: [], nodes: 0 }, rounds: [rejectedRound(0, 10), rejectedRound(1, 12)] });
const stage = { cursorAt: (round, phase, index) => cursorFor(timeline, round, phase, index) };
const at = (phase, more) => ({ round: 0, phase, index: null, part: 1, ...more });
const lessons = [
  { id: 'a', pages: [at('start'), at('pass')], ask: at('gate', { index: 1, part: 0.5 }), tell: at('end') },
  { id: 'b', pages: [at('start')], ask: at('start'), tell: at('end', { round: 1 }) },
];

test('a step on and a step back lead through all pages and questions, and no further', () => {
  const places = [[0, 0]];
  for (let i = 0; i < 8; i++) places.push(neighbourPlace(lessons, places.at(-1), 1));
  assert.deepEqual(places.slice(0, 5), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]);
  assert.deepEqual(places.at(-1), [1, 1]);
  assert.deepEqual(neighbourPlace(lessons, [1, 0], -1), [0, 2]);
  assert.deepEqual(neighbourPlace(lessons, [0, 0], -1), [0, 0]);
  assert.equal(stepsOf(lessons[0]), 3);
});

test('a link names a lesson by id or by number', () => {
  assert.equal(lessonIndex(lessons, 'b'), 1);
  assert.equal(lessonIndex(lessons, '2'), 1);
  for (const wrong of ['c', '0', '3', '1.5', '', null, 'NaN']) assert.equal(lessonIndex(lessons, wrong), null, String(wrong));
});

test('places lie on the timeline', () => {
  // round 0: three drafted 0-2, pass 3, gates 4 and 5 (the third is never reached), outcome 6, cache 7, commit 8
  assert.equal(cursorOf(stage, at('start')), 0);
  assert.equal(cursorOf(stage, at('draft')), 3);
  assert.equal(cursorOf(stage, at('pass', { part: 0.25 })), 3.25);
  assert.equal(cursorOf(stage, at('gate', { index: 0 })), 5);
  assert.equal(cursorOf(stage, at('gate', { index: 1, part: 0.5 })), 5.5);
  assert.equal(cursorOf(stage, at('outcome')), 7);
  assert.equal(cursorOf(stage, at('end')), 9);
  assert.equal(cursorOf(stage, at('start', { round: 1 })), 9);
});

test('while a question is open, the stage does not go beyond it', () => {
  assert.equal(limitOf(stage, lessons[0], false), 5.5);
  assert.equal(limitOf(stage, lessons[0], true), Infinity);
  assert.equal(limitOf(stage, lessons[1], false), 0);
});

test('the answers are kept, and what is kept may be anything', () => {
  const kept = new Map();
  const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  const choices = { a: 2, b: 3 };
  const progress = new Progress(storage, choices);
  assert.equal(progress.given('a'), null);
  progress.answer('a', 0);
  assert.equal(new Progress(storage, choices).given('a'), 0);
  assert.equal(new Progress(storage, choices).count, 1);
  new Progress(storage, choices).answer('b', 2); // in another tab of the browser
  progress.forget('a');
  assert.deepEqual(new Progress(storage, choices).answers, { b: 2 });
  const foreign = '{"c":1,"toString":1,"__proto__":1,"a":2,"b":-1}';
  for (const rubbish of ['{', '[]', '[1,2]', 'null', '{"a":"x"}', '7', '{"a":0.5,"b":null}', foreign]) {
    kept.set('specviz.lessons', rubbish);
    assert.equal(new Progress(storage, choices).count, 0, rubbish);
  }
  const forbidden = { getItem: () => { throw new Error('no'); }, setItem: () => { throw new Error('no'); } };
  const alone = new Progress(forbidden, choices);
  alone.answer('b', 2);
  assert.equal(alone.given('b'), 2);
  alone.answer('a', 1);
  assert.equal(alone.count, 2);
  assert.equal(new Progress(null, choices).count, 0);
});

test('most hands are the guess of the class', () => {
  const poll = new Poll(3);
  assert.equal(poll.favourite, null);
  poll.hands = [4, 9, 2];
  assert.deepEqual([poll.favourite, poll.all], [1, 15]);
  poll.hands = [9, 9, 2];
  assert.equal(poll.favourite, null); // a tie is no answer
});

test('keys: the course takes its own, and leaves the rest to the stage and to fields', () => {
  const done = [];
  const course = {
    presenting: false, asking: true, answered: false,
    forward: () => done.push('forward'), move: () => done.push('back'), present: () => done.push('present'), toggleNotes: () => done.push('notes'),
    sheet: { question: { choose: (i) => done.push(i), tell: () => done.push('tell') } },
  };
  const press = (key, target = { tagName: 'H2' }, more = {}) => {
    const act = courseKey({ key, target, ...more }, course);
    if (act) act();
    return act !== null;
  };
  for (const key of ['n', 'b', 'f', '2', 'Enter']) assert.ok(press(key), key);
  assert.deepEqual(done, ['forward', 'back', 'present', 1, 'tell']);
  for (const key of ['ArrowRight', ' ', 'PageDown', 's', 'Escape', 'p', '?']) assert.ok(!press(key), key);
  assert.ok(!press('n', { tagName: 'INPUT', type: 'number' }));
  assert.ok(!press('n', { tagName: 'TEXTAREA' }));
  assert.ok(!press('n', { tagName: 'H2' }, { ctrlKey: true }));
  assert.ok(!press('Enter', { tagName: 'BUTTON' })); // it presses the button
  assert.ok(press('2', { tagName: 'INPUT', type: 'radio' }));
  course.presenting = true;
  for (const key of ['PageDown', 'PageUp', 'Escape', 's']) assert.ok(press(key), key);
  assert.ok(press('PageDown', { tagName: 'INPUT', type: 'number' })); // a clicker does not know where the focus is
  course.answered = true;
  assert.ok(!press('2'));
});
