/** The line of figures: what the run has achieved so far, with plain decoding next to it. */
import { el, icon, setVars } from './dom.js';
import { measure } from './metrics.js';
import { formatFixed, formatPercent } from './numbers.js';

const ABOUT_EQUAL = 0.03; // speeds closer than this are called the same

export class Tiles {
  constructor(scene) {
    this.scene = scene;
    this.element = el('dl', 'sv-tiles');
  }

  /** Figures after the first `count` rounds; the board's k decides how many positions have a bar. */
  show(count, k) {
    const { words, trace } = this.scene;
    const m = measure(trace, count);
    const some = m.rounds > 0;
    const most = trace.config.method === 'none' ? 1 : trace.config.k + 1;
    this.element.replaceChildren(
      this.tile('m_per_round', formatFixed(m.perRound, 2), words.text('m_at_most', { k: most })),
      this.tile('m_accepted', formatPercent(m.rate), m.drafted ? words.text('m_of', { a: m.accepted, b: m.drafted }) : ''),
      this.tile('m_position', null, '', this.bars(m, Math.max(k, m.perPosition.length))),
      this.tile('m_saved', some ? String(m.saved) : '–', some ? words.text(m.rounds === 1 ? 'm_passes_one' : 'm_passes', { a: m.emitted, b: m.rounds }) : ''),
      this.tile('m_speed', formatFixed(m.tokensPerSecond, 1), this.compared(m)),
    );
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
    const faster = m.speedup > 1;
    return [el('span', faster ? 'sv-fast' : 'sv-slow', icon(faster ? 'fast' : 'slow'), words.text(faster ? 'm_faster' : 'm_slower', values))];
  }
}
