import assert from 'node:assert/strict';
import test from 'node:test';

import { isScrolling, scrollFor } from '../../assets/js/stage/sight.js';

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

test('who scrolls by wheel, finger, key or scroll bar has the page for themselves', () => {
  const scrolls = (event) => isScrolling({ ctrlKey: false, metaKey: false, ...event }, 1000);
  assert.ok(scrolls({ type: 'wheel', deltaX: 0, deltaY: -40 }));
  assert.ok(scrolls({ type: 'touchmove' }));
  assert.ok(scrolls({ type: 'keydown', key: 'PageUp' }));
  assert.ok(scrolls({ type: 'pointerdown', clientX: 1004 }));
  assert.ok(!scrolls({ type: 'wheel', deltaX: 40, deltaY: 0 })); // sideways, in the tree
  assert.ok(!scrolls({ type: 'wheel', deltaX: 0, deltaY: 40, ctrlKey: true })); // zooms
  assert.ok(!scrolls({ type: 'keydown', key: 'ArrowDown', defaultPrevented: true })); // the stage took it
  assert.ok(!scrolls({ type: 'keydown', key: 'a' }));
  assert.ok(!scrolls({ type: 'pointerdown', clientX: 500 }));
});
