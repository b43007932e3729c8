import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

import { roundSummary, sentencesAt } from '../../assets/js/stage/sentence.js';
import { buildTimeline, cursorFor, viewAt } from '../../assets/js/stage/timeline.js';
import { bonusRound, endedRound, greedyRound, plainRound, rejectedRound, traceOf } from './sample.mjs';
import { blockRound, choiceRound, drawnRound, leafRound, refusedRound, treeTrace, typicalRound } from './treesample.mjs';
import { Words } from '../../assets/js/stage/words.js';
import { explainDraft, explainFinal } from '../../assets/js/stage/whyverdict.js';

const STAGE = new URL('../../assets/js/stage/', import.meta.url);
const strings = (lang) => JSON.parse(readFileSync(new URL(`../../assets/locales/${lang}/stage.json`, import.meta.url), 'utf8'));

function said(trace, round, phase, index, back = 0) {
  const timeline = buildTimeline(trace);
  return sentencesAt(trace, viewAt(timeline, cursorFor(timeline, round, phase, index) - back));
}
const key = (...args) => said(...args)[0].key;

test('a gate asks first and tells later', () => {
  const trace = traceOf([rejectedRound()]);
  assert.equal(key(trace, 0, 'gate', 1, 0.5), 's_gate_ask');
  const [told] = said(trace, 0, 'gate', 1);
  assert.equal(told.key, 's_gate_reject');
  assert.deepEqual([told.values.tok, told.values.a, told.values.u], [2, '0.31', '0.72']);
  assert.equal(key(trace, 0, 'gate', 0), 's_gate_sure');
});

test('the outcome names the token only once it is drawn', () => {
  const trace = traceOf([rejectedRound(), bonusRound(), plainRound()]);
  assert.equal(key(trace, 0, 'outcome', 0, 0.8), 's_recovered_ask');
  assert.equal(key(trace, 0, 'outcome'), 's_recovered');
  assert.equal(key(trace, 1, 'outcome'), 's_bonus');
  assert.equal(key(trace, 2, 'outcome'), 's_target');
  assert.equal(key(trace, 2, 'pass'), 's_pass_plain');
  assert.equal(key(trace, 2, 'cache'), 's_cache_plain');
  assert.equal(key(trace, 2, 'commit'), 's_done_plain');
});

test('temperature 0 speaks of choices, not of chances', () => {
  const trace = traceOf([greedyRound()], { config: { temperature: 0 } });
  assert.equal(key(trace, 0, 'draft', 0), 's_draft_greedy_small');
  assert.equal(key(trace, 0, 'gate', 0), 's_greedy_accept');
  const [told] = said(trace, 0, 'gate', 1);
  assert.deepEqual([told.key, told.values.choice, told.values.tok], ['s_greedy_reject', 4, 2]);
  assert.equal(key(trace, 0, 'outcome'), 's_recovered_greedy');
});

test('a text that ends inside the accepted tokens', () => {
  const trace = traceOf([endedRound(0)], { finish: 'stop' });
  const [told] = said(trace, 0, 'outcome');
  assert.deepEqual([told.key, told.values.tok], ['s_ended_stop', 1]);
  assert.equal(key(trace, 0, 'commit'), 's_done_ended');
  assert.equal(roundSummary(trace, 0).key, 'sr_ended');
});

test('prompt lookup has q = 1 and says so', () => {
  const round = { ...rejectedRound(), draft_rows: null };
  round.verdicts = round.verdicts.map((v) => ({ ...v, q: 1 }));
  const trace = traceOf([round], { config: { method: 'lookup' } });
  assert.equal(key(trace, 0, 'draft', 0), 's_draft_lookup');
  assert.equal(key(trace, 0, 'gate', 1, 0.5), 's_gate_ask_lookup');
});

test('what was set by hand is said', () => {
  const config = { overrides: [{ round: 0, position: 1, u: 0.72, token: null }, { round: 0, position: 0, u: null, token: 1 }] };
  const trace = traceOf([rejectedRound()], { config });
  assert.deepEqual(said(trace, 0, 'gate', 1).map((s) => s.key), ['s_gate_reject', 's_set_u']);
  assert.equal(key(trace, 0, 'draft', 0), 's_draft_set');
  assert.equal(said(trace, 0, 'gate', 1, 0.5).length, 1);
});

test('a gate that is sure to accept does not speak of rejecting', () => {
  const [asked] = said(traceOf([rejectedRound()]), 0, 'gate', 0, 0.5);
  assert.deepEqual([asked.key, asked.values.a], ['s_gate_ask_sure', '1.60']);
});

test('only a draft model of its own is called small', () => {
  const trace = (method, more) => traceOf([rejectedRound(), bonusRound()], { config: { method }, ...more });
  assert.equal(key(trace('draft'), 0, 'draft', 0), 's_draft_small');
  assert.equal(key(trace('skip'), 0, 'draft', 0), 's_draft');
  assert.equal(key(trace('draft', { forked_at: 1 }), 0, 'draft', 0), 's_draft'); // copied: not known
  assert.equal(said(trace('skip'), 0)[0].key, 's_ready');
});

test('fewer drafts than k are explained by the tokens left', () => {
  // 2 prompt tokens and 11 new ones: from position 10 on 3 are left, so 2 are drafted and the target adds one
  const short = traceOf([bonusRound(0, 10)], { config: { max_new_tokens: 11 } });
  assert.deepEqual(said(short, 0, 'draft', 0)[1], { key: 's_short', values: { n: 3, m: 2 } });
  const none = traceOf([plainRound(0, 10)], { config: { max_new_tokens: 9 } });
  assert.equal(said(none, 0, 'pass')[1].key, 's_short_none');
  const other = traceOf([bonusRound(0, 10)], { config: { max_new_tokens: 99 } });
  assert.equal(said(other, 0, 'draft', 0).length, 1);
});

test('a round ends with its time, next to that of plain decoding', () => {
  const [done, compared] = said(traceOf([rejectedRound()]), 0, 'commit');
  assert.deepEqual(done, { key: 's_done_recovered', values: { n: 2, a: 1, total: '92' } });
  assert.deepEqual(compared, { key: 's_done_compare', values: { n: 2, b: '50.0', plain: '100' } });
  assert.equal(said(traceOf([rejectedRound()], { baseline_ms: null }), 0, 'commit').length, 1);
});

test('the pass is compared with one plain step where that was measured', () => {
  assert.equal(key(traceOf([rejectedRound()]), 0, 'pass'), 's_pass');
  assert.equal(key(traceOf([rejectedRound()], { baseline_ms: null }), 0, 'pass'), 's_pass_alone');
});

test('the cache in words', () => {
  const [told] = said(traceOf([rejectedRound()]), 0, 'cache');
  assert.deepEqual(told, { key: 's_cache', values: { n: 3, a: 1, x: 2 } });
  assert.equal(key(traceOf([bonusRound(0)]), 0, 'cache'), 's_cache_all');
});

test('a tree is told level by level, then gate by gate', () => {
  const trace = treeTrace([refusedRound(), leafRound()]);
  assert.equal(said(trace, 0)[0].key, 's_tree_ready_heads');
  assert.deepEqual(said(trace, 0, 'heads')[0], { key: 's_tree_heads_first', values: { n: 3, m: null, ms: '9.0' } });
  assert.deepEqual(said(trace, 0, 'draft', 3)[0], { key: 's_tree_level_heads', values: { i: 2, k: 3, n: 3 } });
  assert.equal(key(trace, 0, 'gate', 0, 0.5), 's_tree_ask_fixed_first');
  assert.equal(key(trace, 0, 'gate', 1, 0.5), 's_tree_ask_fixed_next');
  assert.deepEqual([key(trace, 0, 'gate', 0), key(trace, 0, 'gate', 1), key(trace, 0, 'gate', 6)], ['s_tree_reject', 's_tree_accept', 's_tree_reject_last']);
  assert.equal(key(trace, 1, 'gate', 4), 's_tree_accept_leaf');
  assert.deepEqual([key(trace, 0, 'outcome', 0, 0.8), key(trace, 0, 'outcome'), key(trace, 1, 'outcome')], ['s_tree_recovered_ask', 's_tree_recovered', 's_tree_bonus']);
  assert.deepEqual(said(trace, 1, 'cache')[0], { key: 's_tree_gather', values: { n: 7, a: 2, x: 5 } });
  assert.equal(roundSummary(trace, 0).key, 'sr_tree_refused');
});

test('a round is read out with what was refused and why, in the right number', () => {
  const heard = (trace, lang) => new Words(strings(lang), { 2: ' sky', 4: ' ocean' }).plain(roundSummary(trace, 0));
  const trace = traceOf([rejectedRound()]);
  assert.equal(heard(trace, 'en'), 'Round 1: 3 drafted, 1 accepted, “ sky” rejected: p 0.15, q 0.50, u 0.72; “ ocean” recovered. 2 tokens from one target pass.');
  assert.equal(heard(trace, 'zh-CN'), '第 1 轮：起草 3 个，接受 1 个，拒绝 “ sky”：p 0.15，q 0.50，u 0.72；重采样得到 “ ocean”。一次前向共得到 2 个词元。');
  const first = rejectedRound();
  const none = { ...first, path: [], draft: { ...first.draft, tokens: [2, 3, 1] }, verdicts: [first.verdicts[1], first.verdicts[2], first.verdicts[2]] };
  assert.equal(heard(traceOf([none]), 'en'), 'Round 1: 3 drafted, 0 accepted, “ sky” rejected: p 0.15, q 0.50, u 0.72; “ ocean” recovered. 1 token from one target pass.');
  assert.match(heard(traceOf([greedyRound()], { config: { temperature: 0 } }), 'en'), /“ sky” rejected; “ ocean” instead, the target’s own choice\. 2 tokens/);
});

test('how many of the heads are used is said where their number is known', () => {
  const heads = (draft) => said(treeTrace([refusedRound()], { models: { draft } }), 0, 'heads')[0];
  assert.equal(heads('3 Medusa heads').key, 's_tree_heads');
  assert.deepEqual([heads('4 Medusa heads (0a1b2c)').key, heads('4 Medusa heads').values.m], ['s_tree_heads_some', 4]);
  assert.equal(heads('Medusa heads').key, 's_tree_heads_first');
});

test('a chain of heads is not drafted step by step', () => {
  const trace = traceOf([rejectedRound()], { config: { method: 'medusa' } });
  assert.equal(said(trace, 0)[0].key, 's_ready_heads');
  assert.equal(key(trace, 0, 'draft', 1), 's_draft_heads');
  assert.equal(key(traceOf([greedyRound()], { config: { method: 'medusa', temperature: 0 } }), 0, 'draft', 1), 's_draft_heads_greedy');
});

test('a gather says whether anything moves', () => {
  const first = { ...refusedRound(), path: [0] };
  const both = { ...leafRound(0, 10), path: [0, 3] };
  const told = (round) => said(treeTrace([round]), 0, 'cache')[0];
  assert.deepEqual(told(refusedRound()), { key: 's_tree_gather_single', values: { n: 7, a: 1, x: 6 } });
  assert.equal(told(first).key, 's_tree_gather_still_single');
  assert.equal(told(both).key, 's_tree_gather');
  const chain = { ...both, draft: { ...both.draft, parents: [-1, 0, 1, 1, 1, 1, 1] }, path: [0, 1] };
  assert.equal(told(chain).key, 's_tree_gather_still');
});

test('drawn siblings, a draft model, a text that ends in the tree', () => {
  const trace = treeTrace([drawnRound()], { config: { method: 'skip', siblings: 'iid' }, finish: 'stop' });
  assert.deepEqual(said(trace, 0, 'draft', 5)[0], { key: 's_tree_level', values: { i: 3, k: 3, n: 1, ms: '11' } });
  assert.deepEqual([key(trace, 0, 'gate', 0, 0.5), key(trace, 0, 'gate', 0)], ['s_tree_ask_drawn_first', 's_tree_accept']);
  assert.deepEqual(said(trace, 0, 'outcome')[0], { key: 's_ended_stop', values: { tok: 1 } });
});

test('a tree at temperature 0 speaks of the target\'s choice', () => {
  const trace = treeTrace([choiceRound()], { config: { temperature: 0 } });
  assert.deepEqual([key(trace, 0, 'gate', 0), key(trace, 0, 'gate', 3), key(trace, 0, 'gate', 4)], ['s_tree_greedy_accept', 's_tree_greedy_reject', 's_tree_greedy_reject_last']);
  assert.equal(said(trace, 0, 'gate', 3)[0].values.choice, 3);
  assert.equal(key(trace, 0, 'outcome'), 's_tree_recovered_greedy');
});

test('typical acceptance says that it draws nothing, on trees and chains', () => {
  const trace = treeTrace([typicalRound()], { config: { verify: 'typical' } });
  assert.deepEqual([key(trace, 0, 'gate', 0, 0.5), key(trace, 0, 'gate', 0), key(trace, 0, 'gate', 2)], ['s_typical_ask', 's_typical_accept', 's_typical_reject']);
  assert.equal(key(trace, 0, 'outcome'), 's_typical_final');
  assert.deepEqual([key(trace, 0, 'commit'), roundSummary(trace, 0).key], ['s_done_target', 'sr_tree_refused_limit']);
  const chain = { ...blockRound(), verdicts: blockRound().verdicts.map((v) => ({ ...v, u: null })), final: { token: 1, kind: 'target', prob: 0.4, u: 0.1 } };
  assert.deepEqual([key(traceOf([chain]), 0, 'gate', 0), key(traceOf([chain]), 0, 'outcome'), roundSummary(traceOf([chain]), 0).key], ['s_typical_accept', 's_typical_final', 'sr_refused_limit']);
});

test('block verification tells what carries what', () => {
  const trace = traceOf([blockRound()]);
  assert.deepEqual([0, 1, 2, 3].map((i) => key(trace, 0, 'gate', i)), ['s_block_pass', 's_block_fail', 's_block_carry', 's_block_end']);
  assert.equal(said(trace, 0, 'gate', 3)[0].values.n, 3);
  assert.equal(key(trace, 0, 'outcome'), 's_block_final');
});

test('the inspector says why', () => {
  const why = (round, tree, node, kind = round.verdicts[node].status) => explainDraft(round, tree, node, true, kind).key;
  const refused = refusedRound();
  assert.deepEqual([0, 1, 2, 3].map((node) => why(refused, true, node)), ['i_tree_fixed_rejected', 'i_tree_fixed_accepted', 'i_tree_sibling_taken', 'i_tree_off_path']);
  assert.equal(why(refused, true, 0, null), 'i_tree_asked');
  assert.deepEqual([why(drawnRound(), true, 0), why(drawnRound(), true, 3)], ['i_tree_drawn_accepted', 'i_greedy_after_end']);
  assert.deepEqual([0, 1, 2, 6].map((node) => why(typicalRound(), true, node)), ['i_typical_accept', 'i_typical_beside', 'i_typical_reject', 'i_tree_off_path']);
  assert.deepEqual([0, 1, 3].map((i) => why(blockRound(), false, i)), ['i_block_pass', 'i_block_carried', 'i_block_reject']);
  assert.equal(explainFinal(refused, 'recovered').key, 'i_share_recovered');
  assert.equal(explainFinal(rejectedRound(), 'recovered').key, 'i_chance_recovered');
});

test('every sentence at every step has words in both languages, and values for all its placeholders', () => {
  const traces = [
    traceOf([rejectedRound(), bonusRound(), plainRound(), endedRound()], { finish: 'stop' }),
    traceOf([greedyRound()]),
    traceOf([greedyRound(), rejectedRound()], { config: { method: 'medusa' } }),
    treeTrace([refusedRound()], { models: { draft: '4 Medusa heads' } }),
    treeTrace([{ ...refusedRound(), path: [0] }], { models: { draft: '3 Medusa heads' } }),
    traceOf([rejectedRound(), bonusRound()], { config: { method: 'skip' } }),
    traceOf([bonusRound(0, 10)], { config: { max_new_tokens: 11 } }),
    traceOf([plainRound(0, 10)], { config: { max_new_tokens: 9 } }),
    traceOf([rejectedRound(), bonusRound()], { config: { method: 'lookup' } }),
    traceOf([plainRound(0)], { config: { method: 'none' } }),
    traceOf([]),
    treeTrace([refusedRound(), leafRound(), plainRound(2, 15)]),
    treeTrace([drawnRound()], { config: { method: 'skip', siblings: 'iid' }, finish: 'stop' }),
    treeTrace([drawnRound()], { config: { method: 'eagle', tree: [], nodes: 7 } }),
    treeTrace([choiceRound()], { config: { temperature: 0 } }),
    treeTrace([typicalRound()], { config: { verify: 'typical' } }),
    traceOf([blockRound()], { config: { verify: 'block' } }),
  ];
  for (const lang of ['en', 'zh-CN']) {
    const words = strings(lang);
    for (const trace of traces) {
      const timeline = buildTimeline(trace);
      const all = trace.rounds.map((_, i) => roundSummary(trace, i));
      for (let c = 0; c <= timeline.length; c += 0.25) all.push(...sentencesAt(trace, viewAt(timeline, c)));
      for (const { key: name, values } of all) {
        assert.ok(words[name], `${lang}: ${name}`);
        const templates = [words[name], values.n === 1 && words[name + '_one']].filter(Boolean);
        for (const text of templates) for (const [, hole] of text.matchAll(/\{(\w+)\}/g)) assert.ok(values[hole] != null, `${lang}: ${name}: ${hole}`);
      }
    }
  }
});

test('both languages have the same keys with the same placeholders', () => {
  const [en, zh] = [strings('en'), strings('zh-CN')];
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  const holes = (text) => [...new Set(text.match(/\{\w+\}/g))].sort();
  for (const name of Object.keys(en)) assert.deepEqual(holes(zh[name]), holes(en[name]), name);
});

test('every key that the code spells out exists', () => {
  const en = strings('en');
  for (const file of readdirSync(STAGE)) {
    const code = readFileSync(new URL(file, STAGE), 'utf8');
    for (const [, name] of code.matchAll(/\.text\('(\w+)'(?! \+)/g)) assert.ok(name in en, `${file}: ${name}`);
    for (const [, name] of code.matchAll(/'((?:s|i|sr|lens|help|m|row|e|n)_\w+)'(?! \+)/g)) assert.ok(name in en, `${file}: ${name}`);
  }
});
