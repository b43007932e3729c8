import assert from 'node:assert/strict';
import test from 'node:test';

import { draftGatherOf, gatherOf } from '../../assets/js/stage/gather.js';
import { contextOf, nodeFacts, pathTokens } from '../../assets/js/stage/nodefacts.js';
import { Tree, decidedBy, finalContext, isChain, treeOf, walkOf } from '../../assets/js/stage/shape.js';
import { seenBy } from '../../assets/js/stage/treemask.js';
import { mostRows } from '../../assets/js/stage/treesize.js';
import { runningText } from '../../assets/js/stage/tokens.js';
import { PARENTS, drawnRound, leafRound, refusedRound, treeTrace, typicalRound } from './treesample.mjs';

const tree = new Tree(PARENTS);

test('depths, ranks, levels, paths', () => {
  assert.deepEqual(tree.depths, [1, 1, 1, 2, 2, 3, 2]);
  assert.deepEqual(tree.ranks, [0, 1, 2, 0, 1, 0, 0]);
  assert.deepEqual(tree.level(2), [3, 4, 6]);
  assert.deepEqual(tree.path(5), [0, 3, 5]);
  assert.deepEqual(tree.path(-1), []);
  assert.deepEqual(tree.before(2), [0, 1]);
  assert.deepEqual(tree.below(1), [3, 5, 4]);
  assert.equal(tree.isLast(4), true);
  assert.deepEqual([new Tree([]).depth, isChain([-1, 0, 1]), isChain([-1, -1]), isChain([])], [0, true, false, true]);
});

test('the walk: the siblings of each context in order, then those of the accepted one', () => {
  assert.deepEqual(walkOf(refusedRound()), [0, 1, 6]);
  assert.deepEqual(walkOf(leafRound()), [0, 3, 4]);
  assert.deepEqual(walkOf(typicalRound()), [0, 2, 3, 5]);
});

test('the fate of a node is told by its own gate, an ancestor\'s, or that of the sibling taken instead', () => {
  assert.deepEqual(decidedBy(refusedRound()), [0, 1, 1, 0, 0, 0, 6]);
  assert.deepEqual(decidedBy(leafRound()), [0, 0, 0, 3, 4, 3, 0]);
  assert.deepEqual(decidedBy(drawnRound()), [0, 0, 0, null, null, null, 0]); // the text ended below 0
});

test('contexts and paths', () => {
  const round = refusedRound();
  assert.equal(finalContext(round), 2);
  assert.deepEqual([contextOf(round, 0), contextOf(round, 5), contextOf(round, 7)], [0, 4, 2]);
  assert.deepEqual(pathTokens(round, 5), [1, 4, 2]);
  assert.deepEqual(pathTokens(round, 7), [2, 4]); // the accepted path, then the final token
  assert.equal(treeOf(round), treeOf(round));
});

test('a row of the mask sees the root, its ancestors and itself', () => {
  assert.deepEqual([seenBy(tree, 0), seenBy(tree, 3), seenBy(tree, 6)], [[0], [0, 3], [0, 1, 4, 6]]);
});

test('the gather keeps the rows of the path behind the text and drops the rest', () => {
  const { rows, kept } = gatherOf(leafRound(0, 10));
  assert.equal(kept, 3);
  assert.deepEqual(rows.map(({ node, row, to }) => [node, row, to]), [[-1, 9, 9], [0, 10, 10], [1, 11, null], [2, 12, null], [3, 13, null], [4, 14, 11], [5, 15, null], [6, 16, null]]);
});

test('the draft has a row for each node that it continued', () => {
  const { rows } = draftGatherOf(drawnRound());
  assert.deepEqual(rows.map(({ node, row, to }) => [node, row, to]), [[-1, 9, 9], [0, 10, 10], [1, 11, null], [3, 12, null]]);
  assert.equal(draftGatherOf(refusedRound()), null); // heads have no cache
  assert.equal(draftGatherOf({ ...drawnRound(), draft_rows: [9, 30, 11] }), null); // rows of another make
});

test('facts of a node: position ids are shared by a level, rows are not', () => {
  const round = leafRound(0, 10);
  assert.deepEqual(nodeFacts(round, 4), { level: 2, rank: 2, of: 2, position: 11, row: 14, to: 11, ancestors: 1, before: [3] });
  assert.equal(nodeFacts(round, 6).position, 11);
  assert.equal(nodeFacts(round, 5).to, null);
});

test('the board is as high as the tallest tree of the run', () => {
  assert.equal(mostRows(treeTrace([])), 5); // four leaves and the final token
  assert.equal(mostRows(treeTrace([{ ...refusedRound(), layout: { rows: 9 } }])), 9);
  const grown = treeTrace([refusedRound()], { config: { method: 'eagle', tree: [], nodes: 7 } });
  assert.equal(mostRows(grown), 5);
});

test('tokens as running text', () => {
  const vocab = { 1: 'The', 2: ' sky', 3: { bytes: 'e4b8' }, 4: { bytes: '96' }, 5: '\n' };
  assert.equal(runningText(vocab, [1, 2, 5]), 'The sky↵');
  assert.equal(runningText(vocab, [1, 3, 4]), 'The世');
  assert.equal(runningText(vocab, [3, 1]), 'E4·B8The');
});
