/** What stands around a lesson: the list of all lessons with the progress, presenting, and the glossary. */
import { button, el } from './../stage/dom.js';
import { parsed } from './words.js';

export class Contents {
  constructor(course) {
    this.course = course;
    this.list = el('details', 'sl-list');
    this.side = el('div', 'sl-side');
    this.element = el('header', 'sl-head', this.list, this.side);
    this.glossary = el('details', 'sl-glossary');
    this.list.open = !course.options.place || !course.options.place.lesson;
    this.lang = null;
  }

  close() {
    if (this.begun) this.list.open = false;
    this.begun = true; // a first visit finds the list open
  }

  draw() {
    const { course } = this;
    const { lessons, progress, options } = course;
    const known = progress.count;
    const summary = el('summary', '', el('b', '', course.word('lessons')), el('span', '', course.word('progress', { n: known, all: lessons.length })));
    this.list.replaceChildren(summary, el('ol', '', lessons.map((lesson, i) => this.entry(lesson, i))));
    const present = button('sl-plain', () => course.present(), course.word(course.presenting ? 'present_end' : 'present'));
    const keys = el('span', 'sl-keys', course.word(course.presenting ? 'keys_presenting' : 'keys'));
    this.side.replaceChildren(keys, present);
    if (this.lang !== options.lang) this.explain();
  }

  entry(lesson, i) {
    const { course } = this;
    const given = course.progress.given(lesson.id);
    const state = given === null ? '' : given === lesson.right ? 'sl-right' : 'sl-wrong';
    const mark = given === null ? String(i + 1) : given === lesson.right ? '✓' : '✗';
    const title = lesson.texts[course.options.lang].title;
    const open = button(state, () => {
      course.place = [i, 0];
      course.arrive(true);
    }, el('i', '', mark), el('span', '', title));
    if (given !== null) open.setAttribute('aria-description', course.word(state === 'sl-right' ? 'right_before' : 'wrong_before'));
    if (i === course.place[0]) open.setAttribute('aria-current', 'true');
    return el('li', '', open);
  }

  explain() {
    const { course } = this;
    const { lang, book } = course.options;
    this.lang = lang;
    const entries = book.glossary[lang].map(([, term, html]) => el('div', '', el('dt', '', term), parsed('dd', '', html)));
    this.glossary.replaceChildren(el('summary', '', course.word('glossary')), el('dl', '', entries));
  }
}
