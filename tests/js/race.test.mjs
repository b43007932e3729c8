import assert from 'node:assert/strict';
import test from 'node:test';

import { RaceClock, courseOf, laneAt, roundsOver, stripPaths } from '../../assets/js/race/clock.js';
import { raceStatus, readRace } from '../../assets/js/app/race.js';

const round = (parts, tokens, accepted = 0) => ({ parts, tokens: Array(tokens).fill(1), accepted });
// 30 ms for 3 tokens, then 50 ms for 1
const lane = [round([5, 20, 2, 3], 3, 2), round([10, 36, 2, 2], 1)];

test('a round’s tokens are there when its measured time has passed, and not before', () => {
  const course = courseOf(lane);
  assert.deepEqual(course, { ends: [30, 80], counts: [3, 4], total: 80, tokens: 4 });
  assert.deepEqual([0, 29.9, 30, 79.9, 80, 500].map((ms) => laneAt(course, ms).tokens), [0, 0, 3, 3, 4, 4]);
  assert.deepEqual([0, 29.9, 30, 80].map((ms) => roundsOver(course, ms)), [0, 0, 1, 2]);
});

test('the speed of the moment counts the time that has passed; at the end the lane’s clock stands', () => {
  const course = courseOf(lane);
  assert.equal(laneAt(course, 10).speed, null);
  assert.equal(laneAt(course, 60).speed, 50); // 3 tokens in 60 ms
  assert.deepEqual(laneAt(course, 1000), { rounds: 2, tokens: 4, elapsed: 80, done: true, speed: 50 });
});

test('a lane of nothing has ended', () => {
  assert.deepEqual(laneAt(courseOf([]), 0), { rounds: 0, tokens: 0, elapsed: 0, done: true, speed: null });
});

test('the clock runs only while it plays, at its speed, and stops at the end', () => {
  const clock = new RaceClock(100);
  assert.equal(clock.at(5000), 0);
  clock.play(1000);
  assert.equal(clock.at(1040), 40);
  clock.setSpeed(1040, 0.5);
  assert.equal(clock.at(1060), 50);
  clock.pause(1060);
  assert.equal(clock.at(9000), 50);
  assert.equal(clock.playing(9000), false);
  clock.play(9000);
  assert.equal(clock.at(9080), 90);
  assert.equal(clock.at(9999), 100);
  assert.equal(clock.playing(9999), false);
  assert.equal(clock.ended(9999), true);
});

test('playing at the end begins anew; “again” does so at any time; the scrubber goes anywhere', () => {
  const clock = new RaceClock(100);
  clock.seek(0, 100);
  clock.play(0);
  assert.equal(clock.at(0), 0);
  clock.again(30);
  assert.equal(clock.at(40), 10);
  clock.seek(40, 60);
  assert.equal(clock.at(50), 70);
  clock.seek(50, -5);
  assert.equal(clock.at(50), 0);
  clock.seek(50, 1e9);
  assert.equal(clock.at(50), 100);
});

test('the strip is in proportion: each part as wide as it took, one after the other', () => {
  const paths = stripPaths(lane, 100);
  assert.equal(paths.draft, 'M0.00 6h50.00V18h-50.00zM300.00 6h100.00V18h-100.00z');
  assert.equal(paths.target, 'M50.00 0h200.00V18h-200.00zM400.00 0h360.00V18h-360.00z');
  assert.equal(paths.rest, 'M250.00 13h50.00V18h-50.00zM760.00 13h40.00V18h-40.00z');
  assert.equal(stripPaths([round([0, 10, 0, 0], 1)], 100).draft, '');
});

test('a message is read once, its race played; a status without a race leaves the race on show', () => {
  const shown = [];
  const own = { race: 'before', status: null, read: null, replay: { show: (race, play) => shown.push([race, play]) } };
  readRace(own, JSON.stringify({ id: 'a', status: { kind: 'running' } }));
  assert.deepEqual([own.race, own.status.kind, shown.length], ['before', 'running', 0]);
  const json = JSON.stringify({ id: 'b', race: { number: 2 }, status: null });
  readRace(own, json);
  readRace(own, json);
  assert.deepEqual(shown, [[{ number: 2 }, true]]);
  assert.equal(own.status, null);
  readRace(own, null);
});

test('what the app is doing, in words', () => {
  const word = (key, values) => (values ? key + JSON.stringify(values) : key);
  assert.equal(raceStatus(null, word), '');
  assert.equal(raceStatus({ kind: 'queued', n: 2 }, word), 'queued{"n":2}');
  assert.equal(raceStatus({ kind: 'progress', lane: 1, tokens: 5, limit: 9, ms: 250 }, word), 'track_running{"lane":"lane_fast","tokens":5,"limit":9,"speed":"20.0"}');
  assert.equal(raceStatus({ kind: 'progress', lane: 0, tokens: 0, limit: 9, ms: 0 }, word), 'track_running{"lane":"lane_plain","tokens":0,"limit":9,"speed":"–"}');
  assert.equal(raceStatus({ kind: 'stopped' }, word), 'track_stopped');
});
