/** A show of hands: how many are for each choice, entered before the answer is told, and compared with it after. */
import { el } from './../stage/dom.js';
import { fillTemplate } from './../stage/numbers.js';
import { percent } from './words.js';

export class Poll {
  /** @param {number} count   how many choices there are */
  constructor(count) {
    this.hands = Array(count).fill(0);
    this.open = false;
    this.chosen = null; // the choice that was made without hands, and is not checked yet
  }

  get all() {
    return this.hands.reduce((a, b) => a + b, 0);
  }

  /** The choice with the most hands; null while there are none, or where two have the most. */
  get favourite() {
    const most = Math.max(...this.hands);
    const first = this.hands.indexOf(most);
    return most > 0 && first === this.hands.lastIndexOf(most) ? first : null;
  }

  /** A field for the hands of choice i. */
  field(strings, i, changed) {
    const input = el('input', 'sl-hands');
    Object.assign(input, { type: 'number', min: '0', max: '9999', inputMode: 'numeric', value: this.hands[i] || '' });
    input.setAttribute('aria-label', fillTemplate(strings.hands_for, { n: i + 1 }));
    input.addEventListener('input', () => {
      this.hands[i] = Math.max(0, Math.min(9999, Math.floor(Number(input.value) || 0)));
      changed();
    });
    input.addEventListener('change', () => { input.value = this.hands[i] || ''; }); // what is counted is on show
    return input;
  }

  /** The hands for choice i, as a bar. */
  bar(strings, i) {
    const bar = el('i');
    bar.style.width = percent(this.hands[i], this.all).replace(' ', '');
    return el('span', 'sl-share', bar, fillTemplate(strings.hands, { n: this.hands[i], share: percent(this.hands[i], this.all) }));
  }

  /** What the class was worth: how many were right, and at a gate its guess against the bar and the draw. */
  verdict(strings, lesson) {
    const values = { n: this.hands[lesson.right], all: this.all, share: percent(this.hands[lesson.right], this.all) };
    const said = [fillTemplate(strings.poll_right, values)];
    if (lesson.bar !== null) {
      const [bar, u] = [lesson.bar, lesson.u].map((x) => x.toFixed(2));
      const share = this.hands[0] / this.all; // the first choice is to accept
      said.push(fillTemplate(share > lesson.u ? strings.poll_above : strings.poll_below, { guess: share.toFixed(2), bar, u }));
    }
    return el('p', 'sl-poll-told', said.join(strings.gap));
  }
}
