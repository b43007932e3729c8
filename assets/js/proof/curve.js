/** One word's frequency as the draws go on, with its interval closing in on p. The axis of draws is logarithmic. */
import { svgEl } from './../stage/dom.js';
import { stops, wilson } from './algebra.js';

const W = 300, H = 150, LEFT = 30, BOTTOM = 18, TOP = 8;

export function curve(draws, n, word, p, z, label) {
  const most = draws.token.length;
  const high = Math.min(1, Math.max(0.2, p * 2, p + 0.15));
  const x = (i) => LEFT + ((W - LEFT - 6) * Math.log(i)) / Math.log(most);
  const y = (share) => TOP + (H - TOP - BOTTOM) * (1 - Math.min(1, share / high));
  let seen = 0, last = 0;
  const points = stops(n).map((i) => {
    for (; last < i; last += 1) seen += Number(draws.token[last]) === word ? 1 : 0;
    return { i, share: seen / i, band: wilson(seen, i, z) };
  });
  const line = (pairs) => pairs.map(([a, b], i) => `${i ? 'L' : 'M'}${a.toFixed(1)} ${b.toFixed(1)}`).join('');
  const area = line([...points.map(({ i, band }) => [x(i), y(band[1])]), ...points.toReversed().map(({ i, band }) => [x(i), y(band[0])])]) + 'Z';
  const text = (at, down, words, anchor) => svgEl('text', { x: at, y: down, 'text-anchor': anchor }, words);
  return svgEl('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': label },
    svgEl('path', { d: area, class: 'pf-band' }),
    svgEl('path', { d: `M${LEFT} ${y(p)}H${W - 6}`, class: 'pf-true' }),
    svgEl('path', { d: line(points.map(({ i, share }) => [x(i), y(share)])), class: 'pf-freq' }),
    ...[0, high / 2, high].map((share) => text(LEFT - 4, y(share) + 3, share.toFixed(2).replace(/^0/, ''), 'end')),
    ...[1, 10, 100, 1000].filter((i) => i < most).map((i) => text(x(i), H - 4, String(i), 'middle')),
    text(W - 6, y(p) - 4, 'p', 'end'));
}
