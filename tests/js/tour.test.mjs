import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { isTourDue } from '../../assets/js/app/tour.js';

const storage = (seen) => ({ getItem: () => seen });

test('the tour comes on the plain page alone', () => {
  for (const search of ['', '?lang=zh-CN', '?__theme=dark&lang=en', '?__sign=abc']) assert.equal(isTourDue(search, storage(null)), true, search);
  for (const search of ['?tour=0', '?tab=learn', '?lesson=3&step=2', '?lang=en&prompt=hi']) assert.equal(isTourDue(search, storage(null)), false, search);
});

test('and once; where nothing can be kept, never', () => {
  assert.equal(isTourDue('', storage('seen')), false);
  assert.equal(isTourDue('', null), false);
  assert.equal(isTourDue('', { getItem() { throw new Error('forbidden'); } }), false);
});

test('every step has its words in both languages', () => {
  const code = readFileSync(new URL('../../assets/js/app/tour.js', import.meta.url), 'utf8');
  const names = [...code.matchAll(/^ {2}\['(\w+)', /gm)].map(([, name]) => name);
  assert.equal(names.length, 4);
  for (const lang of ['en', 'zh-CN']) {
    const words = JSON.parse(readFileSync(new URL(`../../assets/locales/${lang}/tour.json`, import.meta.url), 'utf8'));
    for (const name of names) assert.ok(words[name] && words[name + '_title'], `${lang}: ${name}`);
  }
});
