/** The algebra with its numbers: the masses, one word's sum, and the table of all words. */
import { el, setVars } from './../stage/dom.js';
import { sum } from './algebra.js';

export function number(x) {
  return x.toFixed(3);
}

/** Accepted and rejected mass as one bar of length 1, and the residual as long as what was rejected. */
export function masses({ alpha, rejected }, say) {
  const part = (kind, x, text) => setVars(el('span', 'pf-mass pf-' + kind, x > 0.14 ? text : ''), { x });
  return el('div', '',
    el('div', 'pf-mass-row', el('small', '', say('mass_drafted')), el('div', 'pf-mass-bar', part('common', alpha, number(alpha)), part('less', rejected, number(rejected)))),
    el('div', 'pf-mass-row', el('small', '', say('mass_written')), el('div', 'pf-mass-bar', part('common', alpha, number(alpha)), part('more', rejected, number(rejected)))),
    el('p', 'pf-note', say('masses', { alpha: number(alpha), rejected: number(rejected) })));
}

/** P(word) = q min(1, p/q) + (1 - alpha) r = p, with numbers. */
export function sentence(p, q, parts, i, words, say) {
  const b = (kind, text) => el('b', 'pf-ink-' + kind, text);
  const { common, recovered, residual, rejected, out } = parts;
  const gate = q[i] > 0 ? Math.min(1, p[i] / q[i]) : 1;
  return [
    say('out', { word: words[i] }) + ' = ', b('common', 'q·min(1, p/q)'), ' + ', b('more', '(1 − α)·r'), ' = ',
    b('common', `${number(q[i])}·${number(gate)}`), ' + ', b('more', `${number(rejected)}·${number(rejected > 1e-9 ? residual[i] : 0)}`), ' = ',
    b('common', number(common[i])), ' + ', b('more', number(recovered[i])), ' = ', b('p', number(out[i])), ' = p ✓',
  ];
}

export function table(p, q, { common, less, more, residual, rejected, recovered, out }, word, words, say, onword) {
  const heads = ['col_word', 'col_p', 'col_q', 'col_common', 'col_less', 'col_more', 'col_residual', 'col_recovered', 'col_out'];
  const cells = (i) => [p, q, common, less, more, rejected > 1e-9 ? residual : null, recovered, out].map((row) => (row ? number(row[i]) : '–'));
  const rows = words.map((name, i) => {
    const row = el('tr', i === word ? 'pf-on' : '', el('th', '', name), ...cells(i).map((text) => el('td', '', text)));
    row.addEventListener('click', () => onword(i));
    return row;
  });
  const totals = [p, q, common, less, more, rejected > 1e-9 ? residual : null, recovered, out].map((row) => el('td', '', row ? number(sum(row)) : '–'));
  return el('table', 'pf-table', el('thead', '', el('tr', '', ...heads.map((key) => el('th', '', say(key))))), el('tbody', '', ...rows), el('tfoot', '', el('tr', '', el('th', '', 'Σ'), ...totals)));
}
