/** The small pictures that several parts share: verdict badge, meter, gate, bars of p and q. */
import { el, icon, setVars } from './dom.js';
import { formatPair, formatProb } from './numbers.js';
import { gateParts } from './rule.js';
import { likelihoodRatio } from './trace.js';

/** Icon and word of a status or of a final token's kind. */
export function badge(words, kind) {
  return el('span', 'sv-badge sv-' + kind, el('i', '', icon(kind)), el('span', '', words.text(kind)));
}

/** A name, a number and a bar of that length. */
export function meter(name, value, className) {
  return setVars(el('div', 'sv-meter sv-' + className, el('span', '', name + ' ', el('b', '', formatProb(value))), el('div', '', el('i'))), { v: value });
}

/**
 * A gate: the bar is what accepts, the hatched rest rejection, the pin the draw u; see rule.js for what they are under
 * other rules than min(1, p/q). The label of the bar stands on the side where the pin does not fall. Where p is
 * one-hot (`greedy`) there is nothing to draw: the bar is full or empty. `mine`: u was set by hand.
 */
export function gatePicture(words, verdict, { rule = 'gates', greedy = false, mine = false } = {}) {
  if (greedy && verdict.status !== 'unreached') return greedyGate(words, verdict);
  const { bar, mark, names, random } = gateParts(verdict, rule);
  const parts = [bar > 0 ? el('i', 'sv-ok') : null, mark === null ? null : el('i', random ? 'sv-pin' : 'sv-pin sv-limit')];
  const track = setVars(el('div', 'sv-track sv-' + verdict.status, parts), { av: bar, u: mark ?? 0 });
  if (verdict.status === 'unreached') return el('div', 'sv-gate sv-never', track);
  const gate = el('div', 'sv-gate');
  const [a, u] = mark === null ? [formatProb(bar), ''] : formatPair(bar, mark);
  const spelled = (name) => (name.startsWith('n_') ? words.text(name) : name) + ' ';
  const full = names[0] === 'p/q' && likelihoodRatio(verdict) >= 1;
  gate.append(el('span', 'sv-gate-a' + (a.length > 7 ? ' sv-tight' : ''), spelled(names[0]), el('b', '', full ? '≥ 1' : a)), track);
  if (mark === null) return gate;
  gate.classList.toggle('sv-right', mark < 0.5);
  gate.append(setVars(el('span', 'sv-gate-u', mine ? setMark(words) : null, spelled(names[1]), el('b', '', u)), { u: mark }));
  return gate;
}

function greedyGate(words, verdict) {
  const same = verdict.status === 'accepted';
  const track = setVars(el('div', 'sv-track sv-' + verdict.status, same ? el('i', 'sv-ok') : null), { av: same ? 1 : 0 });
  const answer = setVars(el('span', 'sv-gate-u', el('b', '', words.text(same ? 'yes' : 'no'))), { u: 0.5 });
  return el('div', 'sv-gate sv-greedy', el('span', 'sv-gate-a', words.text('gate_greedy')), track, answer);
}

/** The sign of what the visitor set by hand. */
export function setMark(words) {
  const mark = el('i', 'sv-set', icon('set'));
  mark.title = words.text('set_by_you');
  mark.append(el('span', 'sv-hidden', words.text('set_by_you')));
  return mark;
}

/** A number in a table; the longest ones are set smaller. */
export function numberCell(tag, className, text) {
  return el(tag, className + (text.length > 7 ? ' sv-long-number' : ''), text);
}

/** p and q of one token as two bars, where the algebra of accepting one draft does not apply. */
export function pairBar(p, q, most) {
  return setVars(el('div', 'sv-pair', el('i', 'sv-only-q'), el('i', 'sv-only-p')), { pv: p / most, qv: q / most });
}

/**
 * p and q of one token on one bar: what both have is accepted, p above q is the leftover, q above p is rejected.
 * Heights in millionths of `most`. Without p or q: a plain bar of the other.
 */
export function comparisonBar(p, q, most) {
  const bar = el('div', 'sv-cmp');
  if (p === null || q === null) {
    bar.append(el('i', p === null ? 'sv-only-q' : 'sv-only-p'));
    return setVars(bar, { lo: 0, hi: (p === null ? q : p) / most });
  }
  bar.append(el('i', 'sv-common'), el('i', p > q ? 'sv-above' : 'sv-below'));
  if (p / most > 0.02) bar.append(el('i', 'sv-tick-p'));
  if (q / most > 0.02) bar.append(el('i', 'sv-tick-q'));
  return setVars(bar, { lo: Math.min(p, q) / most, hi: Math.max(p, q) / most, pv: p / most, qv: q / most });
}
