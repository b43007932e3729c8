/**
 * The exported page: reads what specviz/export.py wrote into it, and plays it. No server and no network, also from a file.
 */
const read = (id) => JSON.parse(document.getElementById(id).textContent);

/** Light or dark, as the system is, also when that changes. */
function followScheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const show = () => document.documentElement.classList.toggle('dark', dark.matches);
  dark.addEventListener('change', show);
  show();
}

/** The list of all rounds is folded away, since it tells how every round ends; on paper it is always there. */
function foldList() {
  const toggle = document.getElementById('sh-toggle');
  const list = document.getElementById('sh-list');
  toggle.addEventListener('click', () => {
    const open = list.classList.toggle('sh-open');
    toggle.setAttribute('aria-expanded', String(open));
    if (open) list.scrollIntoView({ block: 'start' });
  });
  document.getElementById('sh-print').addEventListener('click', () => print());
}

function play() {
  const { lang, trace, stage, book, learn } = read('sh-data');
  const host = document.getElementById('sh-play');
  if (book) {
    return globalThis.SpecvizLessons.mount(host, { book, lang, strings: learn, stage, trace: async () => trace, storage: null });
  }
  return globalThis.Specviz.mount(host, { trace, lang, strings: stage, play: true });
}

followScheme();
foldList();
globalThis.SpecvizPage = play(); // for those who look behind the page
