import assert from 'node:assert/strict';
import test from 'node:test';

import { inspected } from '../../assets/js/stage/inspected.js';
import { measure } from '../../assets/js/stage/metrics.js';
import { decidedInBlock, gateParts, isLossy, isOneDraw, judgesByChoice, passesAlone, ruleOf } from '../../assets/js/stage/rule.js';
import { buildTimeline, cursorFor, isOutcomeTold, isSettled, viewAt } from '../../assets/js/stage/timeline.js';
import { depthOf, drawsTree, finalPosition, isGreedyTarget, outputToken, targetChoice } from '../../assets/js/stage/trace.js';
import { plainRound, rejectedRound, traceOf } from './sample.mjs';
import { blockRound, choiceRound, drawnRound, leafRound, refusedRound, treeTrace, typicalRound } from './treesample.mjs';

const trace = treeTrace([refusedRound(), leafRound()]);
const timeline = buildTimeline(trace);
const phases = (line, round) => line.steps.filter((s) => s.round === round).map((s) => s.phase);

test('a tree round: heads, levels, one pass, gates in the order tried, outcome, cache, commit', () => {
  assert.deepEqual(phases(timeline, 0), ['heads', 'draft', 'draft', 'draft', 'pass', 'gate', 'gate', 'gate', 'outcome', 'cache', 'commit']);
  assert.deepEqual(timeline.rounds[0].walk, [0, 1, 6]);
  assert.deepEqual(timeline.steps.slice(5, 8).map((s) => s.index), [0, 1, 6]);
  const drafted = buildTimeline(treeTrace([drawnRound()], { config: { method: 'skip' } }));
  assert.deepEqual(phases(drafted, 0).slice(0, 4), ['draft', 'draft', 'draft', 'pass']);
  assert.equal(drafted.rounds[0].heads, null);
});

test('a node appears with its level and falls with the gate that decides on it', () => {
  const marks = timeline.rounds[0];
  assert.deepEqual(marks.draft, [1, 1, 1, 2, 2, 3, 2]);
  assert.deepEqual(marks.settled, [5, 6, 6, 5, 5, 5, 7]);
  assert.equal(isSettled(marks, 5, 5.5), false);
  assert.equal(isSettled(marks, 5, 5.7), true);
});

test('cursors of tree steps', () => {
  assert.equal(cursorFor(timeline, 0, 'heads'), 1);
  assert.equal(cursorFor(timeline, 0, 'draft', Infinity), 4);
  assert.equal(cursorFor(timeline, 0, 'gate', 6), 8);
  assert.equal(cursorFor(timeline, 0, 'gate', Infinity), 8);
  assert.equal(cursorFor(timeline, 1), timeline.rounds[0].end);
  assert.equal(viewAt(timeline, 0.5).phase, 'heads');
  const chain = buildTimeline(traceOf([rejectedRound()]));
  assert.equal(cursorFor(chain, 0, 'heads'), 0); // there are none
});

test('appended rounds leave the earlier steps as they were', () => {
  const before = buildTimeline(treeTrace([refusedRound()]));
  assert.deepEqual(timeline.rounds[0], before.rounds[0]);
});

test('a round of a tree run that drafts nothing is an ordinary step', () => {
  const line = buildTimeline(treeTrace([plainRound(0)]));
  assert.deepEqual(phases(line, 0), ['pass', 'outcome', 'cache', 'commit']);
  assert.deepEqual([line.rounds[0].walk, line.rounds[0].levels, line.rounds[0].heads], [[], [], null]);
  const at = inspected(treeTrace([plainRound(0)]), line, viewAt(line, cursorFor(line, 0, 'outcome')), null);
  assert.deepEqual([at.position, at.context, at.subject], [0, 0, 'final']);
});

test('which rounds are drawn as trees', () => {
  const chain = rejectedRound();
  assert.equal(drawsTree(traceOf([chain]), chain), false);
  assert.equal(drawsTree(treeTrace([chain]), chain), true); // what is left of a tree near the end
  assert.equal(drawsTree(treeTrace([chain], { forked_at: 1 }), chain), false); // copied from a run of chains
  assert.equal(drawsTree(traceOf([refusedRound()]), refusedRound()), true);
  assert.deepEqual([depthOf(trace.config), depthOf({ k: 5 })], [3, 5]);
});

test('the inspector follows the walk through a tree and tells no more than it', () => {
  const at = (phase, index, pinned = null, back = 0) => inspected(trace, timeline, viewAt(timeline, cursorFor(timeline, 0, phase, index) - back), pinned);
  assert.equal(at('pass'), null);
  assert.equal(at('draft', 0), null);
  assert.deepEqual(at('gate', 6, null, 0.5), { position: 6, context: 2, subject: 'draft', passed: true, open: true, drawn: false, judged: false, kind: null });
  assert.equal(at('gate', 6).kind, 'rejected');
  assert.equal(at('gate', 0, 5).kind, 'unreached'); // fell with its ancestor
  assert.equal(at('gate', 0, 6).kind, null);
  assert.deepEqual([at('outcome').position, at('outcome').subject, at('outcome').context, at('outcome').kind], [7, 'final', 2, 'recovered']);
  assert.deepEqual([at('gate', 0, 7).subject, at('gate', 0, 7).kind], ['final', null]);
  assert.equal(at('heads', 0, 3).subject, 'hidden');
});

test('where p would tell a verdict it is not shown before', () => {
  const one = treeTrace([choiceRound()], { config: { temperature: 0 } });
  const line = buildTimeline(one);
  const open = (phase, index, pinned, back = 0) => inspected(one, line, viewAt(line, cursorFor(line, 0, phase, index) - back), pinned).open;
  assert.equal(judgesByChoice(choiceRound()), true);
  assert.deepEqual([open('pass', 0, 0), open('gate', 0, 0, 0.5), open('gate', 0, 0), open('gate', 0, 3)], [false, false, true, false]);
  assert.deepEqual([open('gate', 0, 1), open('gate', 4, 7), open('outcome', 0, null, 0.8), open('outcome', 0, null)], [true, false, false, true]);
  assert.equal(judgesByChoice(refusedRound()), false);
});

test('whether a round has told its outcome', () => {
  const told = (phase, back = 0) => isOutcomeTold(timeline, viewAt(timeline, cursorFor(timeline, 0, phase) - back));
  assert.deepEqual([told('pass'), told('outcome', 0.8), told('outcome'), told('cache'), told('end')], [false, false, true, true, true]);
  assert.equal(isOutcomeTold(timeline, viewAt(timeline, timeline.rounds[0].end + 0.5)), false); // the next round has begun
  assert.equal(isOutcomeTold(buildTimeline(treeTrace([])), viewAt(buildTimeline(treeTrace([])), 0)), false);
});

test('outputs and positions of a tree', () => {
  const round = leafRound();
  assert.deepEqual([outputToken(round, 0), outputToken(round, 1), outputToken(round, 2)], [1, 1, 5]);
  assert.equal(finalPosition(trace, round), 7);
  assert.equal(finalPosition(traceOf([]), rejectedRound()), 1);
});

test('figures of trees: all nodes are drafted, depths take the place of positions', () => {
  const m = measure(trace, 2);
  assert.deepEqual([m.drafted, m.accepted, m.emitted], [14, 3, 5]);
  assert.deepEqual(m.perPosition, [1, 0.5, 0]);
});

test('rules are read off the round', () => {
  assert.deepEqual([refusedRound(), typicalRound(), blockRound(), rejectedRound(), plainRound()].map(ruleOf), ['gates', 'typical', 'block', 'gates', 'gates']);
  assert.equal(isLossy(treeTrace([typicalRound()])), true);
  assert.equal(isLossy(treeTrace([], { config: { verify: 'typical' } })), true);
  assert.equal(isLossy(trace), false);
});

test('what a gate shows under each rule', () => {
  assert.deepEqual(gateParts({ status: 'accepted', p: 0.2, q: 0.4, u: 0.1 }, 'gates'), { bar: 0.5, mark: 0.1, names: ['p/q', 'u'], random: true });
  assert.deepEqual(gateParts({ status: 'rejected', p: 0.2, q: 1, u: 0.6 }, 'gates').names, ['p', 'u']);
  assert.deepEqual(gateParts(blockRound().verdicts[2], 'block'), { bar: 0.7, mark: 0.3, names: ['n_limit', 'u'], random: true });
  assert.deepEqual(gateParts(typicalRound().verdicts[0], 'typical'), { bar: 0.6, mark: 0.09, names: ['p', 'n_limit'], random: false });
  assert.equal(gateParts(typicalRound().verdicts[1], 'typical').mark, null); // not judged
});

test('a block stays up to the last token that passes, which tells the fate of those before it', () => {
  const round = blockRound();
  assert.deepEqual(round.verdicts.map((v) => passesAlone(v, 'block')), [true, false, true, false]);
  assert.deepEqual(decidedInBlock(round.verdicts), [0, 2, 2, 3]);
  const marks = buildTimeline(traceOf([round])).rounds[0];
  assert.deepEqual(marks.settled, [marks.gate[0], marks.gate[2], marks.gate[2], marks.gate[3]]);
});

test('alpha speaks of one draft drawn from q', () => {
  assert.equal(isOneDraw(refusedRound(), 2), false); // a fixed child
  assert.equal(isOneDraw(drawnRound(), 0), false); // siblings
  assert.equal(isOneDraw(rejectedRound(), 1), true);
  assert.equal(isOneDraw(blockRound(), 1), false);
});

test('one-hot targets', () => {
  assert.equal(isGreedyTarget(choiceRound()), true);
  assert.equal(targetChoice(choiceRound(), 1), 3);
  assert.equal(isGreedyTarget(refusedRound()), false);
  assert.equal(isGreedyTarget({ ...choiceRound(), detail: refusedRound().detail }), false); // p was not one-hot
});
