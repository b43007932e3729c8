/**
 * The course: which lesson and step is open, the text on the left, the stage beside it. A step is a page of the lesson
 * or, as the last one, its question; see main.js for the options.
 */
import { el } from './../stage/dom.js';
import { Bubble } from './../stage/explain.js';
import { fillTemplate } from './../stage/numbers.js';
import { Contents } from './contents.js';
import { courseKey } from './keys.js';
import { lessonIndex, limitOf, neighbourPlace, showOn, stepsOf } from './places.js';
import { Progress, browserStorage } from './progress.js';
import { Sheet } from './sheet.js';

export class Course {
  constructor(host, options) {
    this.host = host;
    this.options = options;
    const choices = this.lessons.map(({ id, texts }) => [id, texts[options.lang].choices.length]);
    this.progress = new Progress(options.storage === undefined ? browserStorage() : options.storage, Object.fromEntries(choices));
    this.polls = new Map(); // lesson id -> what was entered for its question, kept while the page is open
    this.presenting = false;
    this.notesOpen = false;
    this.reminded = false; // that the question is still open
    this.stage = null;
    this.shown = null; // name of the trace on the stage
    this.reached = null; // the place that the stage was last taken to
    this.remarked = null; // what stands above the stage
    this.unknown = false; // whether a lesson was asked for that there is not
    this.place = [0, 0];
    this.text = el('article', 'sl-text sv');
    this.bubble = new Bubble(this.text);
    this.stageHost = el('div', 'sv-host');
    this.missing = el('p', 'sl-missing');
    this.contents = new Contents(this);
    this.body = el('div', 'sl-body', this.text, el('div', 'sl-stage', this.missing, this.stageHost));
    host.classList.add('sl');
    host.replaceChildren(this.contents.element, this.body, this.contents.glossary);
    this.keydown = (event) => this.key(event);
    document.addEventListener('keydown', this.keydown, true); // before the stage, which takes Esc too
    this.goTo(options.place || {});
  }

  get lessons() {
    return this.options.book.lessons;
  }

  get lesson() {
    return this.lessons[this.place[0]];
  }

  get asking() {
    return this.place[1] === this.lesson.pages.length;
  }

  get answered() {
    return this.progress.given(this.lesson.id) !== null;
  }

  word(key, values) {
    return fillTemplate(this.options.strings[key], values);
  }

  /** Any of lang, strings, stage (its words); cursor and step stay. */
  set(options) {
    Object.assign(this.options, options);
    if (this.stage) this.stage.set({ lang: this.options.lang, strings: this.options.stage });
    this.remark(this.remarked);
    this.draw();
  }

  /** Opens a lesson by id or number at a step from 1; what is not said or does not exist is the first, or stays. */
  goTo({ lesson, step, presenting }) {
    const found = lesson === undefined || lesson === null ? this.place[0] : lessonIndex(this.lessons, lesson);
    this.unknown = found === null;
    const index = found ?? this.place[0];
    const wanted = Number.isInteger(Number(step)) ? Number(step) - 1 : 0;
    this.place = [index, Math.max(0, Math.min(stepsOf(this.lessons[index]) - 1, wanted))];
    if (presenting !== undefined) this.present(presenting);
    this.arrive(false);
  }

  move(direction) {
    const next = neighbourPlace(this.lessons, this.place, direction);
    if (next.join() === this.place.join()) return;
    this.place = next;
    this.unknown = false;
    this.arrive(true);
  }

  /** Large letters, nothing else on the page. */
  present(on = !this.presenting) {
    this.presenting = on;
    document.body.classList.toggle('sl-presenting', on);
    this.host.classList.toggle('sl-large', on);
    this.draw();
    this.moved();
  }

  toggleNotes() {
    this.notesOpen = !this.notesOpen;
    this.draw();
  }

  /** A step is opened: its text, the focus on its heading, the stage at its place. */
  arrive(focus) {
    this.draw();
    this.contents.close();
    if (focus) {
      this.text.querySelector('h2').focus({ preventScroll: true });
      if (this.host.getBoundingClientRect().top < 0) this.host.scrollIntoView({ block: 'start' });
    }
    this.showStage(false);
    this.moved();
  }

  moved() {
    const { onmove } = this.options;
    if (onmove) onmove({ lesson: this.lesson.id, step: this.place[1] + 1, presenting: this.presenting });
  }

  draw() {
    const before = document.activeElement;
    this.host.lang = this.options.lang;
    this.sheet = new Sheet(this);
    this.text.replaceChildren(...this.sheet.elements, this.bubble.element);
    this.bubble.hide();
    this.contents.draw();
    this.host.dataset.hide = this.answered ? '' : this.lesson.hide;
    if (before && !before.isConnected) this.text.querySelector('h2').focus({ preventScroll: true }); // it was drawn anew
  }

  /** Called when the answer was given. */
  tell(choice) {
    this.progress.answer(this.lesson.id, choice);
    this.draw();
    const told = this.text.querySelector('.sl-answer');
    told.focus({ preventScroll: true }); // so that it is read aloud, and Tab goes on from here
    told.scrollIntoView({ block: 'nearest' });
    this.showStage(true);
  }

  again() {
    this.progress.forget(this.lesson.id);
    this.polls.delete(this.lesson.id);
    this.arrive(true);
  }

  /** Where the stage should stand now. */
  wanted() {
    if (!this.asking) return this.lesson.pages[this.place[1]];
    return this.answered ? this.lesson.tell : this.lesson.ask;
  }

  /** Whether the stage is where the text is: a trace may still be on its way. */
  get settled() {
    return this.reached === this.wanted();
  }

  async showStage(played) {
    const { lesson, options } = this;
    const wanted = this.wanted();
    try {
      const trace = await options.trace(lesson.trace);
      if (wanted !== this.wanted()) return; // gone on meanwhile
      this.remark(this.unknown ? 'no_lesson' : null);
      this.put(trace, lesson.trace);
      const beside = this.stageHost.offsetTop < this.text.offsetTop + this.text.offsetHeight;
      showOn(this.stage, wanted, limitOf(this.stage, lesson, this.answered), { played, beside });
      this.reached = wanted;
    } catch (error) {
      this.remark('no_trace');
      console.error(error);
    }
  }

  /** A sentence above the stage, by its key, or none. */
  remark(key) {
    this.remarked = key;
    this.missing.textContent = key ? this.word(key) : '';
  }

  put(trace, name) {
    const { lang, stage: strings } = this.options;
    if (!this.stage) this.stage = globalThis.Specviz.mount(this.stageHost, { trace, lang, strings });
    else if (this.shown !== name) this.stage.set({ trace, until: null });
    this.shown = name;
  }

  pause() {
    if (this.stage) this.stage.pause();
  }

  key(event) {
    if (this.host.offsetParent === null) return; // another tab is open
    const act = courseKey(event, this);
    if (act) {
      event.preventDefault();
      act();
    } else if (this.stage && this.text.contains(event.target) && event.target.matches('h2, .sl-answer')) this.stage.key(event);
  }

  /** On, but past an open question only when it was pointed out that it is open. */
  forward() {
    const open = this.asking && !this.answered;
    if (this.presenting && open) {
      if (this.sheet.question.tell()) return;
      this.reminded = !this.reminded;
      if (this.reminded) return;
    }
    this.reminded = false;
    this.move(1);
  }

  destroy() {
    document.removeEventListener('keydown', this.keydown, true);
    document.body.classList.remove('sl-presenting');
    if (this.stage) this.stage.destroy();
    this.bubble.destroy();
    this.host.replaceChildren();
  }
}
