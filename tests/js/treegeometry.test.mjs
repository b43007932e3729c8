import assert from 'node:assert/strict';
import test from 'node:test';

import { Tree } from '../../assets/js/stage/shape.js';
import { Places, boardHeight, discRadius, geometryOf, labelOf, plainLayout, ringRadius, roomFor, scrollWithin } from '../../assets/js/stage/treegeometry.js';
import { PARENTS } from './treesample.mjs';

const tree = new Tree(PARENTS);

test('a tree fits into its width while its labels do, and is as high as the tallest of the run', () => {
  const wide = geometryOf(880, 13, 13, 3);
  assert.equal(wide.width, 880);
  assert.equal(wide.height, boardHeight(13, 880));
  assert.equal(geometryOf(880, 13, 5, 3).height, wide.height);
  assert.ok(geometryOf(880, 13, 5, 3).row > wide.row);
  const phone = geometryOf(362, 29, 29, 4);
  assert.ok(phone.width > 362 && phone.characters >= 3 && phone.dense);
});

test('a tree is no higher than its window unless its rows become too low', () => {
  const room = roomFor(720);
  assert.ok(room > 280 && room < 420);
  assert.ok(boardHeight(13, 880, room) <= room);
  assert.ok(boardHeight(40, 880, room) > room);
  assert.equal(boardHeight(13, 880, roomFor(1080)), boardHeight(13, 880));
  assert.equal(roomFor(480), 266); // a projector of 720 px
  assert.ok(roomFor(200) > 0);
});

test('a window is scrolled so that a path is inside of it, as far back as there is room, and not without need', () => {
  assert.equal(scrollWithin([150, 100, 50], 0, 300), 0);
  assert.equal(scrollWithin([400, 380], 0, 300), 252); // both, in the middle of what is well inside
  assert.equal(scrollWithin([400, 20], 0, 300), 262); // there is no room for the other
});

test('areas are in proportion to probabilities', () => {
  const geometry = geometryOf(880, 13, 13, 3);
  assert.equal(discRadius(geometry, 0.25) / discRadius(geometry, 1), 0.5);
  assert.ok(discRadius(geometry, 0) > 0);
  assert.equal(ringRadius(geometry, 0), 0);
});

test('places: the layout in units, the final token where the layout has it', () => {
  const layout = { x: tree.depths, y: [1, 3, 4, 0, 1, 0, 3], root: 2, final: [3, 3], rows: 5, levels: 3 };
  const geometry = geometryOf(880, 5, 5, 3);
  const places = new Places(tree, layout, geometry, 7);
  assert.equal(places.of(1).x - places.of(-1).x, geometry.column);
  assert.equal(places.of(1).y - places.of(0).y, 2 * geometry.row);
  assert.deepEqual(places.of(7), { x: places.of(5).x, y: places.of(6).y });
  assert.deepEqual([places.parent(7), places.parent(0)], [6, -1]);
  assert.match(places.edge(7, 30, 6), /^M[\d.]+ [\d.]+C/);
});

test('without a layout: columns by depth, in node order, each node in a place of its own', () => {
  const layout = plainLayout(tree, 2);
  assert.deepEqual(layout.x, tree.depths);
  assert.equal(layout.rows, 4); // the second level has three nodes and the final token
  assert.equal(layout.final[0], 2);
  const all = [...layout.x.map((x, i) => [x, layout.y[i]].join()), layout.final.join()];
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual([plainLayout(new Tree([]), 0).final, plainLayout(new Tree([]), null).final], [[1, 0], null]);
});

test('labels are cut to the letters that there is room for', () => {
  const vocab = { 1: ' something', 2: '你好', 3: { bytes: 'e4b8' }, 4: '\n' };
  const room = { characters: 6, letter: 7 };
  const text = (id) => labelOf(vocab, id, room).pieces.map((piece) => piece.text).join('');
  assert.deepEqual([text(1), text(2), text(3), text(4)], ['␣some…', '你好', 'E4·B8', '↵']);
  assert.equal(labelOf(vocab, 1, room).width, 42);
  assert.ok(labelOf(vocab, 2, room).width > 14);
  assert.deepEqual(labelOf(vocab, 1, room).pieces.map((piece) => piece.mark), [true, false, true]);
});
