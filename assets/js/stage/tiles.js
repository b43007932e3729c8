/** The line of figures: what the run has achieved so far, with plain decoding next to it. */
import { button, el, icon, setVars } from './dom.js';
import { explained } from './explain.js';
import { measure } from './metrics.js';
import { formatFixed, formatMs, formatPercent } from './numbers.js';
import { depthOf, isPlain, isTreeConfig } from './trace.js';

const ABOUT_EQUAL = 0.03; // speeds closer than this are called the same

export class Tiles {
  constructor(scene) {
    this.scene = scene;
    this.element = el('dl', 'sv-tiles');
  }

  /** Figures after the first `count` rounds. Plain decoding has only two of them. */
  show(count) {
    const { words, trace } = this.scene;
    const m = measure(trace, count);
    const plain = isPlain(trace);
    const tree = isTreeConfig(trace.config);
    const most = trace.config.method === 'none' ? 1 : depthOf(trace.config) + 1;
    const tiles = [
      this.tile('m_per_round', formatFixed(m.perRound, 2), words.text('m_at_most', { k: most })),
      this.tile(tree ? 'm_accepted_tree' : 'm_accepted', formatPercent(m.rate), m.drafted ? words.text('m_of', { a: m.accepted, b: m.drafted }) : ''),
      this.tile(tree ? 'm_depth' : 'm_position', null, '', this.bars(m, Math.max(most - 1, m.perPosition.length))),
      this.tile('m_saved', m.rounds ? String(m.saved) : '–', m.rounds ? words.text(m.emitted === 1 ? 'm_pass_single' : 'm_passes', { a: m.emitted, n: m.rounds }) : ''),
      this.tile('m_speed', formatFixed(m.tokensPerSecond, 1), plain ? '' : this.compared(m)),
    ];
    this.element.replaceChildren(...(plain ? [tiles[0], tiles[4]] : tiles));
  }

  tile(key, value, caption, picture) {
    const shown = picture || el('b', '', value);
    return el('div', 'sv-tile', el('dt', '', this.scene.words.text(key)), el('dd', '', shown, caption ? el('span', 'sv-caption', caption) : null));
  }

  bars(m, k) {
    const bars = el('span', 'sv-positions');
    if (!k) bars.append('–');
    for (let i = 0; i < k; i++) {
      const share = m.rounds ? m.perPosition[i] || 0 : 0;
      const label = k > 8 && i % 4 !== 0 && i !== k - 1 ? '' : String(i + 1);
      const bar = setVars(el('i', '', el('u'), el('s', '', label)), { v: share });
      bar.title = i + 1 + ': ' + (m.rounds ? formatPercent(share) : '–');
      bars.append(bar);
    }
    bars.setAttribute('role', 'img');
    bars.setAttribute('aria-label', m.perPosition.map((share, i) => i + 1 + ': ' + formatPercent(share)).join(', ') || '–');
    return bars;
  }

  /** The measured plain speed, and honestly which of the two is faster. */
  compared(m) {
    const { words } = this.scene;
    if (m.plainTokensPerSecond === null) return words.text('m_no_plain');
    const values = { b: formatFixed(m.plainTokensPerSecond, 1), x: formatFixed(m.speedup, 2) };
    if (m.speedup === null) return words.text('m_plain', values);
    if (Math.abs(m.speedup - 1) <= ABOUT_EQUAL) return words.text('m_same', values);
    if (m.speedup > 1) return [el('span', 'sv-fast', icon('fast'), words.text('m_faster', values))];
    const why = this.reason(m);
    const told = [icon('slow'), words.text('m_slower', values)];
    return [why ? explained(button('sv-term sv-slow', () => {}, told), why) : el('span', 'sv-slow', told)];
  }

  /** What makes it slow, in numbers. */
  reason(m) {
    const { words, trace } = this.scene;
    if (m.rate === null) return null;
    const values = { d: formatMs(m.draftStepMs), t: formatMs(m.checkMs), b: formatMs(trace.baseline_ms), rate: formatPercent(m.rate), x: formatFixed(m.perRound, 2) };
    if (isTreeConfig(trace.config)) return words.text('m_why_slower_tree', values);
    return words.text(trace.config.method === 'lookup' ? 'm_why_slower_lookup' : 'm_why_slower', values);
  }
}
