/** Two small distributions: their algebra, what a hand may do to them, and intervals. Pure. */

/** min(p, q), what either has more of, alpha, the residual, and both ways to p. */
export function split(p, q) {
  const common = p.map((x, i) => Math.min(x, q[i]));
  const more = p.map((x, i) => Math.max(0, x - q[i]));
  const less = q.map((x, i) => Math.max(0, x - p[i]));
  const alpha = sum(common);
  const rejected = sum(more); // = 1 - alpha, and = the sum of `less`
  const residual = rejected > 1e-9 ? more.map((x) => x / rejected) : [...p];
  const recovered = residual.map((r) => (rejected > 1e-9 ? rejected * r : 0));
  return { common, more, less, alpha, rejected, residual, recovered, out: common.map((x, i) => x + recovered[i]) };
}

export function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}

/** `values` with one of them set by hand: the others keep their proportions, and all sum to 1. */
export function put(values, at, wanted) {
  const value = Math.min(1, Math.max(0, wanted));
  const rest = sum(values) - values[at];
  const left = 1 - value;
  const out = values.map((x, i) => (i === at ? value : rest > 1e-9 ? (x * left) / rest : left / (values.length - 1)));
  const whole = sum(out);
  return out.map((x) => x / whole);
}

/** Total variation between frequencies and p. */
export function distance(counts, n, p) {
  return sum(counts.map((c, i) => Math.abs(c / n - p[i]))) / 2;
}

/** Wilson's interval for a probability that was met `seen` times in n draws; z standard deviations wide. */
export function wilson(seen, n, z) {
  const share = seen / n;
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** How often each word came among the first n draws, and how many of them were accepted. */
export function count(draws, n, words) {
  const counts = Array(words).fill(0);
  let accepted = 0;
  for (let i = 0; i < n; i += 1) {
    counts[Number(draws.token[i])] += 1;
    accepted += draws.accepted[i] === '1' ? 1 : 0;
  }
  return { counts, accepted };
}

/** The numbers of draws at which a curve over 1..n is drawn: evenly spaced on a logarithmic axis. */
export function stops(n, points = 60) {
  const found = new Set();
  for (let i = 0; i <= points; i += 1) found.add(Math.round(n ** (i / points)));
  return [...found].filter((x) => x >= 1 && x <= n);
}

/** How many draws are on show after so many seconds: slow at first, then faster, all of them after eight seconds. */
export function shownAfter(seconds, n) {
  return Math.min(n, Math.floor(n ** Math.min(1, 0.2 + seconds / 10)));
}
