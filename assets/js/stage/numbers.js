/** Numbers as they are read on the stage. Pure. */

const DASH = '–';
const SMALLEST = '< 0.000001'; // distributions are recorded in millionths

/** x limited to 0..1. */
export function clamp01(x) {
  return Math.max(0, Math.min(1, x));
}

/** A probability in two significant digits; what is not exactly 0 or 1 is never written as 0 or 1. */
export function formatProb(x) {
  if (x == null || Number.isNaN(x)) return DASH;
  if (x === 0 || x === 1) return String(x);
  if (x < 1e-6) return SMALLEST;
  if (x >= 0.995 && x < 1) return nearOne(x);
  if (x >= 0.0995) return x.toFixed(2);
  return x.toFixed(Math.min(6, 1 - Math.floor(Math.log10(x))));
}

function nearOne(x) {
  for (const digits of [3, 4]) if (+x.toFixed(digits) < 1) return x.toFixed(digits);
  return '≈ 1';
}

/** A recorded probability in millionths. 0 means "below one millionth", unless zeros are exact (one-hot). */
export function formatMillionths(n, exact) {
  if (n == null) return DASH;
  if (n === 0) return exact ? '0' : SMALLEST;
  return formatProb(n / 1e6);
}

/** Two numbers that are compared with each other, with digits enough to tell them apart. */
export function formatPair(a, u) {
  const [left, right] = [formatProb(a), formatProb(u)];
  if (left !== right || a === u) return [left, right];
  for (let digits = 3; digits <= 9; digits++) if (a.toFixed(digits) !== u.toFixed(digits)) return [a.toFixed(digits), u.toFixed(digits)];
  return [String(a), String(u)];
}

/** p/q: a plain number up to 100, and what lies beyond in words of one sign. */
export function formatRatio(x) {
  if (x === Infinity) return '∞';
  return x < 1 ? formatProb(x) : x >= 100 ? '> 100' : x === 1 ? '1' : x.toFixed(2);
}

/** Milliseconds: whole from 10 on, two digits below. */
export function formatMs(ms) {
  if (ms == null) return DASH;
  if (ms >= 10) return String(Math.round(ms));
  return ms >= 1 ? ms.toFixed(1) : ms >= 0.01 ? ms.toFixed(2) : '< 0.01';
}

export function formatPercent(x) {
  return x == null ? DASH : Math.round(x * 100) + ' %';
}

/** A plain decimal, or a dash. */
export function formatFixed(x, digits) {
  return x == null ? DASH : x.toFixed(digits);
}

/** `{name}` filled in. An unknown name stays as it is; values may hold braces. */
export function fillTemplate(text, values) {
  return text.replace(/\{(\w+)\}/g, (all, name) => (values && name in values ? String(values[name]) : all));
}
