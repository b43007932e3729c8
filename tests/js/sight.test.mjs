import assert from 'node:assert/strict';
import test from 'node:test';

import { isSeen, scrollFor } from '../../assets/js/stage/sight.js';

const band = { top: 100, bottom: 600 };
const span = (top, bottom) => ({ top, bottom });

test('the page scrolls as far as it must, and no further', () => {
  assert.equal(scrollFor([span(150, 500)], band), 0);
  assert.equal(scrollFor([span(550, 700)], band), 100);
  assert.equal(scrollFor([span(40, 300)], band), -60);
});

test('the most that fits is shown, else the beginning of the least', () => {
  assert.equal(scrollFor([span(0, 800), span(400, 700)], band), 100);
  assert.equal(scrollFor([span(0, 900), span(50, 800)], band), -50);
  assert.equal(scrollFor([span(300, 900)], band), 200);
});

test('half of a thing is enough to see it', () => {
  assert.equal(isSeen(span(500, 700), band), true);
  assert.equal(isSeen(span(550, 700), band), false);
  assert.equal(isSeen(span(0, 2000), band), true); // it fills the window
  assert.equal(isSeen(span(-900, 90), band), false);
});
