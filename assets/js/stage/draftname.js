/**
 * The drafter's name in the visitor's language. A trace names it in English, as specviz/models/load.py and heads.py do;
 * here are the patterns of those names. What fits none of them is a model's own name, and stays. Pure.
 */
const MARKED = /^(?<name>.+) \((?<mark>[0-9a-f]{6,64})\)$/; // with the beginning of a hash of the weights
const NAMES = [
  [/^(?<n>\d+) Medusa heads$/, 'draft_heads'],
  [/^Medusa heads$/, 'draft_heads_unknown'],
  [/^EAGLE-style layer$/, 'draft_eagle'],
  [/^(?<target>.+) without layers (?<list>\d[\d, -]*)$/, 'draft_skip'],
  [/^(?<name>.+) \((?<n>\d+) layers\)$/, 'draft_layers'],
  [/^prompt lookup$/, 'draft_lookup'],
  [/^no draft$/, 'draft_none'],
];

/** @param {Words} words */
export function draftName(words, name) {
  const marked = MARKED.exec(name);
  if (marked) return words.text('draft_marked', { name: draftName(words, marked.groups.name), mark: marked.groups.mark });
  for (const [pattern, key] of NAMES) {
    const found = pattern.exec(name);
    if (!found) continue;
    const values = { ...found.groups };
    if (values.n) values.n = Number(values.n);
    return words.text(key, values);
  }
  return name;
}

/** How many Medusa heads there are, used or not; null where the name does not tell. */
export function headCount(name) {
  const found = /^(\d+) Medusa heads\b/.exec(name);
  return found ? Number(found[1]) : null;
}
