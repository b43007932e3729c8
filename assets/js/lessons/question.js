/** The question of a lesson: choices first, then the answer. It is never told before one was given. */
import { button, el } from './../stage/dom.js';
import { fillTemplate } from './../stage/numbers.js';
import { parsed } from './words.js';

export class Question {
  /**
   * @param {object} lesson    of the book
   * @param {object} text      the lesson's texts in the language of the page
   * @param {{strings: object, given: number|null, poll: Poll, ontell: (choice: number) => void, onagain: () => void}} options
   */
  constructor(lesson, text, options) {
    Object.assign(this, { lesson, text, ...options });
    if (this.told) this.poll.chosen = this.given;
    this.element = el('form', 'sl-question');
    this.element.noValidate = true; // what the browser says would be in its own language; the fields put themselves right
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.tell();
    });
    this.draw();
  }

  get told() {
    return this.given !== null;
  }

  /** What would be checked now: a choice, else what most hands are for. */
  get guess() {
    return this.poll.chosen ?? this.poll.favourite;
  }

  word(key, values) {
    return fillTemplate(this.strings[key], values);
  }

  draw() {
    const legend = parsed('legend', 'sl-asked', this.text.question);
    const rows = this.text.choices.map((html, i) => this.choice(html, i));
    this.element.replaceChildren(el('fieldset', '', legend, rows), ...(this.told ? this.answer() : this.controls()));
    this.element.classList.toggle('sl-polling', this.poll.open || this.told);
    this.show();
  }

  choice(html, i) {
    const input = el('input', '');
    Object.assign(input, { type: 'radio', name: 'sl-' + this.lesson.id, value: i, checked: this.poll.chosen === i, disabled: this.told });
    input.addEventListener('change', () => this.choose(i));
    const right = this.told && i === this.lesson.right;
    const wrong = this.told && i === this.given && !right;
    const mark = right ? '✓' : wrong ? '✗' : String(i + 1);
    const row = el('label', 'sl-choice' + (right ? ' sl-right' : wrong ? ' sl-wrong' : ''), input, el('kbd', '', mark), parsed('span', '', html));
    if (!this.told) row.append(this.poll.field(this.strings, i, () => this.show()));
    else if (this.poll.all) row.append(this.poll.bar(this.strings, i));
    return row;
  }

  controls() {
    this.check = el('button', 'sl-main', this.word('check'));
    this.check.type = 'submit';
    this.hint = el('span', 'sl-hint');
    this.hint.setAttribute('role', 'status');
    const poll = button('sl-plain', () => this.openPoll(), this.word('poll'));
    poll.setAttribute('aria-expanded', String(this.poll.open));
    return [el('div', 'sl-controls', this.check, poll, this.hint)];
  }

  answer() {
    const right = this.given === this.lesson.right;
    const verdict = el('b', right ? 'sl-yes' : 'sl-no', this.word(right ? 'right' : 'wrong', { n: this.lesson.right + 1 }));
    const told = el('div', 'sl-answer', el('p', '', verdict), parsed('div', '', this.text.answer));
    told.tabIndex = -1; // it gets the focus, see Course.tell
    if (this.poll.all) told.append(this.poll.verdict(this.strings, this.lesson));
    return [told, el('div', 'sl-controls', button('sl-plain', () => this.onagain(), this.word('again')))];
  }

  openPoll() {
    this.poll.open = !this.poll.open;
    this.draw();
    this.element.querySelector(this.poll.open ? '.sl-hands' : '.sl-controls .sl-plain').focus();
  }

  choose(i) {
    if (this.told || i >= this.text.choices.length) return;
    this.poll.chosen = i;
    this.element.querySelectorAll('input[type=radio]').forEach((input, n) => { input.checked = n === i; });
    this.show();
  }

  show() {
    if (this.told) return;
    this.check.setAttribute('aria-disabled', String(this.guess === null)); // can have the focus all the same
    if (this.guess !== null) this.hint.textContent = '';
  }

  /** Tells the answer, if one was given; else says that one is wanted. @returns {boolean} whether it is told now */
  tell() {
    if (this.told) return true;
    if (this.guess === null) {
      this.hint.textContent = this.word(this.poll.all ? 'choose_tied' : 'choose_first');
      return false;
    }
    this.given = this.guess;
    this.ontell(this.given);
    return true;
  }
}
