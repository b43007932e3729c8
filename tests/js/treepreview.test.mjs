import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Selection } from '../../assets/js/stage/selection.js';
import { Playback } from '../../assets/js/stage/playback.js';
import { changesOf } from '../../assets/js/stage/treepreview.js';

test('what an edited tree has more and less than the round on the board', () => {
  assert.deepEqual(changesOf({ same: [0, 1, null, 3] }, 5), { n: 4, added: 1, gone: 2 });
  assert.deepEqual(changesOf({ same: [null] }, 0), { n: 1, added: 1, gone: 0 });
});

test('a node that was not drafted yet is selected by its ranks, and nothing else with it', () => {
  const told = [];
  const selection = new Selection((place) => told.push(place));
  selection.toggle(2, 4);
  selection.toggleBranch(2, [0, 1]);
  assert.equal(selection.position, null);
  selection.toggle(2, 3);
  assert.equal(selection.branch, null);
  selection.toggleBranch(2, [1]);
  selection.toggleBranch(2, [1]);
  selection.clear();
  assert.deepEqual(told, [
    { round: 2, position: 4, branch: null },
    { round: 2, position: null, branch: [0, 1] },
    { round: 2, position: 3, branch: null },
    { round: 2, position: null, branch: [1] },
    null,
  ]);
});

test('a preview stays until the run is played or stepped', () => {
  class Quiet extends Playback {
    paint() {}

    attend() {}

    keepInSight() {}
  }
  for (const act of [(it) => it.seek(0), (it) => it.step(-1), (it) => it.play(), (it) => it.showPreview(null)]) {
    const it = new Quiet();
    it.trace = { rounds: [], finish: 'length' };
    it.showPreview({ choices: [[0]] });
    assert.ok(it.preview);
    act(it);
    assert.equal(it.preview, null);
  }
});
