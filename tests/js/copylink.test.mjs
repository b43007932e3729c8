// A link to the settings of the moment: never one that the page would refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyLink } from '../../assets/js/app/controls.js';

// what the page has in a browser, as far as a link needs it
globalThis.location = { origin: 'http://host', pathname: '/', search: '?lang=en' };
globalThis.document = { documentElement: {}, body: { dataset: { svTab: 'tree' } }, dispatchEvent() {} };
globalThis.SpecvizStrings = {
  en: { 'ui.link_long': '{size} above {limit}', 'ui.address': 'copy it', 'ui.address_copied': 'copied' },
};

const NAMES = ['prompt', 'k', 'chat'];

test('the settings are in the link', async () => {
  const { value } = await copyLink(NAMES, 10, ['Why?', 3, true, 'en']);
  const query = new URL(value).searchParams;
  assert.deepEqual([query.get('prompt'), query.get('k'), query.get('chat'), query.get('lang')], ['Why?', '3', '1', 'en']);
});

test('a prompt that is too long for a link is said, and no link is given', async () => {
  const { value, label, visible } = await copyLink(NAMES, 10, ['x'.repeat(11), 3, true, 'en']);
  assert.deepEqual([value, visible], ['', true]);
  assert.equal(label, '11 above 10');
});

test('a character is one, however it is stored', async () => {
  const { value } = await copyLink(NAMES, 10, ['😀'.repeat(10), 3, true, 'en']);
  assert.ok(value);
});
