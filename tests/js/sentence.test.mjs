import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

import { roundSummary, sentencesAt } from '../../assets/js/stage/sentence.js';
import { buildTimeline, cursorFor, viewAt } from '../../assets/js/stage/timeline.js';
import { bonusRound, endedRound, greedyRound, plainRound, rejectedRound, traceOf } from './sample.mjs';

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
  assert.equal(key(trace, 0, 'draft', 0), 's_draft_greedy');
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

test('the pass is compared with plain steps only where it is a gain', () => {
  assert.equal(key(traceOf([rejectedRound()]), 0, 'pass'), 's_pass');
  assert.equal(key(traceOf([rejectedRound()], { baseline_ms: null }), 0, 'pass'), 's_pass_alone');
  assert.equal(key(traceOf([rejectedRound()], { baseline_ms: 1 }), 0, 'pass'), 's_pass_alone');
});

test('the cache in words', () => {
  const [told] = said(traceOf([rejectedRound()]), 0, 'cache');
  assert.deepEqual(told, { key: 's_cache', values: { k: 3, a: 1, x: 2 } });
  assert.equal(key(traceOf([bonusRound(0)]), 0, 'cache'), 's_cache_all');
});

test('every sentence at every step has words in both languages, and values for all its placeholders', () => {
  const traces = [
    traceOf([rejectedRound(), bonusRound(), plainRound(), endedRound()], { finish: 'stop' }),
    traceOf([greedyRound()]),
    traceOf([rejectedRound(), bonusRound()], { config: { method: 'lookup' } }),
    traceOf([plainRound(0)], { config: { method: 'none' } }),
    traceOf([]),
  ];
  for (const lang of ['en', 'zh-CN']) {
    const words = strings(lang);
    for (const trace of traces) {
      const timeline = buildTimeline(trace);
      const all = trace.rounds.map((_, i) => roundSummary(trace, i));
      for (let c = 0; c <= timeline.length; c += 0.25) all.push(...sentencesAt(trace, viewAt(timeline, c)));
      for (const { key: name, values } of all) {
        assert.ok(words[name], `${lang}: ${name}`);
        for (const [, hole] of words[name].matchAll(/\{(\w+)\}/g)) assert.ok(values[hole] != null, `${lang}: ${name}: ${hole}`);
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
    for (const [, name] of code.matchAll(/'((?:s|i|sr|lens|help|m|row)_\w+)'(?! \+)/g)) assert.ok(name in en, `${file}: ${name}`);
  }
});
