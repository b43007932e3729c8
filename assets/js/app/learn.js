/** The Learn tab: ties the course (assets/js/lessons) to Gradio, to the page's language and to its address. */
import { unfold } from './controls.js';
import { currentLanguage, stageStrings, wordsOf } from './language.js';
import { MAIN, pauseStage } from './stages.js';

const PARAMETERS = ['lesson', 'step', 'present'];

let course = null;
const traces = new Map(); // name -> promise of a bundled trace

/** Where a link leads: ?lesson=&step=&present= */
function linkedPlace() {
  const query = new URLSearchParams(location.search);
  const place = { lesson: query.get('lesson') ?? undefined, step: query.get('step') ?? undefined };
  return query.get('present') === '1' ? { ...place, presenting: true } : place;
}

function words(lang) {
  return { lang, strings: wordsOf(lang, 'learn.'), stage: stageStrings(lang) };
}

/** Called by Gradio when the component is mounted: the first time the tab is opened. */
export function attachLessons({ element, props, trigger, server }) {
  if (course) course.destroy();
  const fetched = (name) => {
    if (!traces.has(name)) {
      const wanted = server.lesson_trace(name).then((json) => JSON.parse(json));
      wanted.catch(() => traces.delete(name)); // the next time it is asked for again
      traces.set(name, wanted);
    }
    return traces.get(name);
  };
  course = globalThis.SpecvizLessons.mount(element.querySelector('.sl-host'), {
    book: JSON.parse(props.value),
    ...words(currentLanguage()),
    trace: fetched,
    place: linkedPlace(),
    onmove: ({ lesson, step, presenting }) => address({ lesson, step, present: presenting ? 1 : null }),
    onlive: (id) => trigger('live', { id }),
  });
}

/** The address of the page is a link to what is on show. */
function address(values) {
  if (document.body.dataset.svTab !== 'learn') return;
  const query = new URLSearchParams(location.search);
  query.delete('tab');
  for (const [name, value] of Object.entries(values)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  query.set('lang', currentLanguage());
  history.replaceState(history.state, '', '?' + query);
}

/** Another tab: the address is not a lesson's any more, and nothing moves where nobody looks. */
function leave() {
  if (!course) return;
  course.pause();
  course.present(false);
  const query = new URLSearchParams(location.search);
  PARAMETERS.forEach((name) => query.delete(name));
  history.replaceState(history.state, '', '?' + query);
}

/** The course follows the page's tab and language. */
export function followPage() {
  document.addEventListener('specviz:language', ({ detail }) => {
    if (!course) return;
    if (course.options.lang !== detail) course.set(words(detail)); // Gradio also tells it when the page has loaded
    address({});
  });
  document.addEventListener('specviz:tab', ({ detail }) => {
    if (detail !== 'learn') return leave();
    pauseStage(MAIN);
    return course && course.moved();
  });
}

/** The course, for tests: which lesson and step, what is answered. */
export function peekLessons() {
  if (!course) return null;
  const { lesson, place, answered, asking, presenting, settled, stage } = course;
  return { lesson: lesson.id, step: place[1] + 1, answered, asking, presenting, settled, cursor: stage && stage.cursor };
}

/** After "try it live": the settings are unfolded, and Enter runs them. */
export function readyToRun() {
  const more = document.getElementById('sv-more');
  if (!more.classList.contains('sv-open')) unfold(more.id);
  const run = document.querySelector('#sv-run');
  run.scrollIntoView({ block: 'center' });
  run.focus();
}
