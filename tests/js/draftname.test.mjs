import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { draftName, headCount } from '../../assets/js/stage/draftname.js';
import { Words } from '../../assets/js/stage/words.js';

const words = (lang) => new Words(JSON.parse(readFileSync(new URL(`../../assets/locales/${lang}/stage.json`, import.meta.url), 'utf8')), {});
const ENGLISH = [
  '4 Medusa heads', '4 Medusa heads (0a1b2c)', 'Medusa heads', 'EAGLE-style layer', 'EAGLE-style layer (123456)',
  'SmolLM2-135M-Instruct without layers 14-17', 'A (b) without layers 3, 14-17', 'specviz draft (4 layers)', 'prompt lookup', 'no draft',
];

test('the names that Python gives are read as they are in English', () => {
  for (const name of ENGLISH) assert.equal(draftName(words('en'), name), name);
});

test('one layer is one', () => {
  assert.equal(draftName(words('en'), 'specviz draft (1 layers)'), 'specviz draft (1 layer)');
});

test('and in Chinese in Chinese', () => {
  const chinese = ENGLISH.map((name) => draftName(words('zh-CN'), name));
  assert.deepEqual(chinese, [
    '4 个 Medusa 头', '4 个 Medusa 头（0a1b2c）', 'Medusa 头', 'EAGLE 式单层', 'EAGLE 式单层（123456）',
    'SmolLM2-135M-Instruct（跳过第 14-17 层）', 'A (b)（跳过第 3, 14-17 层）', 'specviz draft（4 层）', '提示词查找', '没有草稿',
  ]);
});

test('a model keeps its own name', () => {
  assert.equal(draftName(words('zh-CN'), 'Qwen/Qwen2.5-0.5B'), 'Qwen/Qwen2.5-0.5B');
  assert.equal(draftName(words('zh-CN'), 'Medusa heads of mine'), 'Medusa heads of mine');
});

test('how many heads there are', () => {
  assert.deepEqual(['4 Medusa heads', '5 Medusa heads (0a1b2c)', 'Medusa heads', 'no draft', undefined].map(headCount), [4, 5, null, null, null]);
});
