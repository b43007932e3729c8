/**
 * The entry: `SpecvizLessons.mount(host, options)` puts the course into an element. It needs no server: who has the book
 * and the traces that it names can play it from a file.
 *
 * options   book      what specviz/lessons/book.py makes
 *           lang      its language
 *           strings   {key: text} of that language, the content of learn.json
 *           stage     {key: text} of that language, the content of stage.json
 *           trace     (name) -> promise of a trace as the browser draws it
 *           place     where to begin: {lesson: id or number, step: number from 1, presenting: boolean}, all optional
 *           onmove    ({lesson: id, step, presenting}) after every move
 *           onlive    (id) -> void: "try it live"; without it there is no such button
 *           storage   keeps the progress; localStorage, if there is one
 *
 * The course that comes back has set({lang, strings, stage}), goTo(place), present(on), pause and destroy.
 */
import { Course } from './course.js';

/** @returns {Course} */
export function mount(host, options) {
  return new Course(host, options);
}

globalThis.SpecvizLessons = { mount };
