/** What the host app is doing, in a strip above the stage; the run on screen stays usable below it. */
import { el, setVars } from './dom.js';

const CARD_SIGNS = { loading: '◐', queued: '⋯', error: '!', empty: '▷' };

/**
 * @param {Words} words
 * @param {{kind: string, part?: number, n?: number, message?: string, title?: string, text?: string}} status
 *   part 0..1 is the progress of a loading; n the place in the queue; message what went wrong; title and text
 *   replace the usual words
 */
export function statusCard(words, status) {
  if (!CARD_SIGNS[status.kind]) return null; // "running" and the like need no card
  const title = status.title || words.text(status.kind + '_title', status);
  const text = status.text || words.text(status.kind + '_text', { message: '', ...status });
  const card = el('div', 'sv-card-state sv-' + status.kind, el('i', 'sv-sign', CARD_SIGNS[status.kind]), el('div', '', el('b', '', title), el('span', '', text)));
  card.setAttribute('role', status.kind === 'error' ? 'alert' : 'status');
  if (status.part != null) {
    const percent = Math.round(status.part * 100);
    const bar = setVars(el('div', 'sv-progress', el('i')), { v: status.part });
    bar.setAttribute('role', 'progressbar');
    bar.setAttribute('aria-valuenow', String(percent));
    card.append(bar, el('span', 'sv-percent', percent + ' %'));
  }
  return card;
}
