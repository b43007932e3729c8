/** One step in words: heading, page or question, what to try, the teacher's notes, on and back. */
import { button, el } from './../stage/dom.js';
import { Poll } from './poll.js';
import { stepsOf } from './places.js';
import { Question } from './question.js';
import { parsed } from './words.js';

export class Sheet {
  constructor(course) {
    this.course = course;
    const { lesson, options } = course;
    this.text = lesson.texts[options.lang];
    this.question = course.asking ? this.makeQuestion() : null;
    const body = this.question ? this.question.element : parsed('div', 'sl-page', this.text.pages[course.place[1]]);
    this.elements = [this.heading(), body, ...this.live(), this.notes(), this.steps()].filter(Boolean);
  }

  makeQuestion() {
    const { course } = this;
    const { lesson, polls } = course;
    if (!polls.has(lesson.id)) polls.set(lesson.id, new Poll(this.text.choices.length));
    return new Question(lesson, this.text, {
      strings: course.options.strings,
      given: course.progress.given(lesson.id),
      poll: polls.get(lesson.id),
      ontell: (choice) => course.tell(choice),
      onagain: () => course.again(),
    });
  }

  heading() {
    const { course } = this;
    const [lesson, step] = course.place;
    const where = course.word(course.asking ? 'where_question' : 'where', { n: lesson + 1, all: course.lessons.length, page: step + 1, pages: course.lesson.pages.length });
    const title = el('h2', '', el('small', '', where), this.text.title);
    title.tabIndex = -1;
    return title;
  }

  /** After the answer: the same settings, to run. */
  live() {
    const { course } = this;
    if (!course.asking || !course.answered || !course.options.onlive) return [];
    const go = button('sl-plain sl-live', () => course.options.onlive(course.lesson.id), course.word('live'));
    return [el('p', 'sl-try', go, ' ', course.word('live_note'))];
  }

  /** For whoever teaches: at the question; while presenting they come and go with a key. */
  notes() {
    const { course } = this;
    if (!course.notesOpen && (course.presenting || !course.asking)) return null;
    const notes = el('details', 'sl-notes', el('summary', '', course.word('notes')), parsed('div', '', this.text.notes));
    notes.open = course.notesOpen;
    return notes;
  }

  steps() {
    const { course } = this;
    const [lesson, step] = course.place;
    const last = lesson === course.lessons.length - 1 && step === stepsOf(course.lesson) - 1;
    const dots = Array.from({ length: stepsOf(course.lesson) }, (_, i) => el('i', (i === step ? 'sl-now' : '') + (i === course.lesson.pages.length ? ' sl-dot-asks' : ''), i === course.lesson.pages.length ? '?' : ''));
    const back = button('sl-plain', () => course.move(-1), course.word('back'));
    const next = button(course.asking && !course.answered ? 'sl-plain' : 'sl-main', () => course.forward(), course.word(course.asking ? 'next_lesson' : 'next'));
    back.disabled = lesson === 0 && step === 0;
    next.disabled = last;
    back.setAttribute('aria-keyshortcuts', 'B');
    next.setAttribute('aria-keyshortcuts', 'N');
    const dotted = el('span', 'sl-dots', dots);
    dotted.setAttribute('aria-hidden', 'true');
    return el('nav', 'sl-steps', back, dotted, next);
  }
}
