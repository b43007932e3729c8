import assert from 'node:assert/strict';
import test from 'node:test';

import { stageForKey } from '../../assets/js/stage/keyboard.js';
import { KEY_HELP, keyAction, keyIsTaken } from '../../assets/js/stage/keys.js';

const BODY = { tagName: 'BODY' };
const stage = (name, inside, seen = true) => ({ name, host: { seen, contains: (node) => node === inside } });
const inSight = (host) => host.seen;

test('a key goes to the stage with the focus', () => {
  const cell = { tagName: 'BUTTON' };
  const [a, b] = [stage('a', null), stage('b', cell)];
  assert.equal(stageForKey([a, b], a, cell, inSight), b);
});

test('without a focus it goes to the one used last, else to the first in sight', () => {
  const [a, b, c] = [stage('a', null, false), stage('b', null), stage('c', null)];
  assert.equal(stageForKey([a, b, c], null, BODY, inSight), b);
  assert.equal(stageForKey([a, b, c], c, BODY, inSight), c);
  assert.equal(stageForKey([a, b, c], a, BODY, inSight), b); // used last, but out of sight
  assert.equal(stageForKey([a], null, BODY, inSight), null);
});

test('a key pressed elsewhere on the page is left alone', () => {
  assert.equal(stageForKey([stage('a', null)], null, { tagName: 'TEXTAREA' }, inSight), null);
  assert.equal(keyIsTaken({ target: { tagName: 'SELECT' } }, 'nextStep'), true);
  assert.equal(keyIsTaken({ target: { tagName: 'BUTTON' } }, 'toggle'), true); // the space bar presses it
  assert.equal(keyIsTaken({ target: BODY }, 'toggle'), false);
});

test('a plain button does not keep the keys, but one with a part of its own does', () => {
  const focused = (role) => ({ tagName: 'BUTTON', getAttribute: () => role });
  const a = stage('a', null);
  assert.equal(stageForKey([a], null, focused(null), inSight), a);
  assert.equal(stageForKey([a], null, focused('tab'), inSight), null);
});

test('paging stays with the page, and every key in the list does something', () => {
  assert.equal(keyAction({ key: 'PageDown' }), null);
  const names = { '←': 'ArrowLeft', '→': 'ArrowRight', '↑': 'ArrowUp', '↓': 'ArrowDown', Esc: 'Escape', key_space: ' ' };
  const skipped = ['key_shift', 'Tab', 'Enter']; // the browser's own
  for (const cap of KEY_HELP.flatMap(([caps]) => caps)) if (!skipped.includes(cap)) assert.ok(keyAction({ key: names[cap] || cap }), cap);
});
