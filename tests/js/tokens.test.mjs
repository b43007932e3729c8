import assert from 'node:assert/strict';
import test from 'node:test';

import { byteParts, decodeBytes, glyphRuns, lookupToken, runningToken, spacedBytes, tokenName } from '../../assets/js/stage/tokens.js';
import './page.mjs';

const shown = (text, soft) => glyphRuns(text, soft).map((run) => run.text).join('');

test('white space and unseen characters are spelled out, text stays text', () => {
  assert.equal(shown(' is'), '␣is');
  assert.equal(shown(' is it', true), ' is it');
  assert.equal(shown('a\n\tb\r'), 'a↵⇥b␍');
  assert.equal(shown('\u0000'), 'U+0000');
  assert.equal(shown('\u202eevil'), 'U+202Eevil');
  assert.equal(shown('a\u200bb\u00a0\ufeff'), 'aU+200BbU+00A0U+FEFF');
  assert.equal(shown('\ud83d'), 'U+D83D');
  assert.equal(shown('<script>${1+1}`'), '<script>${1+1}`');
});

test('joined emoji stay whole; a joiner or accent on its own is seen', () => {
  assert.equal(shown('👩\u200d👧'), '👩\u200d👧');
  assert.equal(shown('\u200d'), 'U+200D');
  assert.equal(shown('\u0301'), '◌\u0301');
});

test('kinds of tokens', () => {
  const vocab = { 1: ' a', 2: { special: '<|im_end|>' }, 3: { bytes: 'e4b8' }, 4: '' };
  assert.deepEqual(lookupToken(vocab, 1), { kind: 'text', text: ' a' });
  assert.equal(lookupToken(vocab, 3).kind, 'bytes');
  assert.equal(lookupToken(vocab, 99).text, '#99');
  assert.equal(lookupToken(vocab, 'constructor').kind, 'unknown');
  assert.equal(tokenName(vocab, 2), '<|im_end|>');
  assert.equal(spacedBytes('e4b896'), 'E4·B8·96');
});

test('fragments know their place in the character, once it is whole', () => {
  const vocab = { 1: { bytes: 'e5' }, 2: { bytes: '96' }, 3: { bytes: '9c' }, 4: { bytes: 'e596' }, 5: 'x', 6: { bytes: '2ae5' }, 7: { bytes: 'ff' } };
  const told = (...ids) => byteParts(vocab, ids).map((part) => part && `${part.i}/${part.n} ${part.ch}`);
  assert.deepEqual(told(1, 2, 3), ['1/3 喜', '2/3 喜', '3/3 喜']);
  assert.deepEqual(told(4, 3), ['1–2/3 喜', '3/3 喜']);
  assert.deepEqual(told(1, 2), [null, null]);
  assert.deepEqual(told(1, 5, 2, 3), [null, null, null, null]);
  assert.deepEqual(told(7, 6, 2, 3), [null, '1/3 喜', '2/3 喜', '3/3 喜']);
});

test('a split character is text only when it is whole', () => {
  assert.equal(decodeBytes('e4b8'), null);
  assert.equal(decodeBytes('e4b896'), '世');
  assert.equal(decodeBytes('ff'), null);
});

test('in running text a character comes with its last byte, and lines break', () => {
  const vocab = { 1: { bytes: 'e4' }, 2: { bytes: 'b8' }, 3: { bytes: '96' }, 4: ' a\n', 5: '↵', 6: { special: '<|im_end|>' } };
  const pending = [];
  const pieces = [1, 2, 3, 4, 5, 1, 6, 2].map((id) => runningToken(vocab, id, 'mine', pending));
  assert.deepEqual(pieces.map((piece) => piece.textContent), ['·', '·', '世', ' a↵\n', '↵', '·', '<|im_end|>', '·']);
  assert.deepEqual(pieces.slice(0, 4).map((piece) => piece.title), ['E4', 'B8', '96', '“ a↵”']);
  for (const piece of pieces) assert.match(piece.className, /^sv-token\b.*\bmine$/);
  assert.deepEqual(pending, ['b8']); // the special token ended the character before it
});
