// The page's words: put into Gradio's settings before it draws, and sent as updates when the language is switched.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openWith, relabel } from '../../assets/js/app/labels.js';

globalThis.location = { search: '?lang=zh-CN' };
globalThis.document = { documentElement: {}, dispatchEvent() {} };
globalThis.CustomEvent ??= class {};
globalThis.SpecvizStrings = { en: { go: 'Run', how: 'plain' }, 'zh-CN': { go: '运行', how: '普通' } };
const ROWS = [[3, { value: 'go' }], [7, { label: 'how', choices: [['how', 'none'], [{ en: 'one', 'zh-CN': '一' }, 1]] }]];

test('the page opens in the language of the visitor, and switches', () => {
  const components = [{ id: 3, props: { value: 'Run', size: 'sm' } }, { id: 5, props: { value: 'Run' } }, { id: 7, props: { label: 'plain' } }];
  globalThis.gradio_config = { components };
  openWith(ROWS);
  assert.deepEqual(components.map((one) => one.props), [
    { value: '运行', size: 'sm' }, { value: 'Run' }, { label: '普通', choices: [['普通', 'none'], ['一', 1]] },
  ]);
  assert.deepEqual(relabel('en'), [
    { __type__: 'update', value: 'Run' }, { __type__: 'update', label: 'plain', choices: [['plain', 'none'], ['one', 1]] },
  ]);
});

test('settings that are kept elsewhere do no harm', () => {
  delete globalThis.gradio_config;
  openWith(ROWS);
  assert.equal(relabel('zh-CN')[0].value, '运行');
});
