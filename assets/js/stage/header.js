/** The head of the stage: which round, which phase, and the one sentence that says what happens. */
import { button, el } from './dom.js';
import { term } from './explain.js';
import { isLossy } from './rule.js';
import { roundSummary, sentencesAt } from './sentence.js';
import { finishedRounds } from './timeline.js';
import { isPlain } from './trace.js';

/** The five phases that are named; the cache and the text are one. */
const PHASES = ['draft', 'pass', 'gate', 'outcome', 'commit'];
const PLAIN_PHASES = ['pass', 'outcome', 'commit'];
const PART_OF = { heads: 'draft', cache: 'commit' };

export class Header {
  constructor(scene) {
    this.scene = scene;
    const { words } = scene;
    this.title = el('div', 'sv-title');
    this.phases = isPlain(scene.trace) ? PLAIN_PHASES : PHASES;
    this.buttons = this.phases.map((phase, i) => button('', () => scene.visitPhase(phase), el('i', '', String(i + 1)), el('span', '', words.text('phase_' + phase))));
    const list = el('ol', 'sv-phases', this.buttons.map((node) => el('li', '', node)));
    this.sentence = el('p', 'sv-sentence');
    this.spoken = el('p', 'sv-hidden'); // for screen readers: one sentence a round
    this.spoken.setAttribute('aria-live', 'polite');
    const lossy = isLossy(scene.trace) ? term(words, 'e_typical', 'sv-lossy', words.text('lossy')) : null;
    this.element = el('header', 'sv-header', el('div', 'sv-header-row', el('div', 'sv-heading', this.title, lossy), list), this.sentence, this.spoken);
  }

  /** @returns {string} where we are, in words */
  show(view) {
    const { words, trace, timeline } = this.scene;
    const parts = sentencesAt(trace, view).map((sentence) => el('span', '', words.nodes(sentence)));
    this.sentence.replaceChildren(...parts.flatMap((part, i) => (i ? [words.text('between_sentences'), part] : [part])));
    const total = trace.rounds.length;
    this.title.textContent = view.round < 0 ? words.text('no_rounds') : this.where(view, total);
    const now = this.phases.indexOf(PART_OF[view.phase] || view.phase);
    const marks = timeline.rounds[view.round];
    this.buttons.forEach((node, i) => {
      const absent = Boolean(marks) && ((this.phases[i] === 'draft' && !marks.draft.length) || (this.phases[i] === 'gate' && marks.lastGate === null));
      node.className = absent ? 'sv-absent' : i === now ? 'sv-now' : i < now ? 'sv-past' : '';
      node.disabled = absent || !marks;
      if (i === now) node.setAttribute('aria-current', 'step');
      else node.removeAttribute('aria-current');
    });
    this.sayRound(finishedRounds(timeline, view.cursor), view);
    return this.title.textContent + (now < 0 ? '' : ', ' + words.text('phase_' + this.phases[now]));
  }

  /** Which round; at the end of a run that was stopped, that it was. */
  where(view, n) {
    const { words, trace, timeline } = this.scene;
    if (trace.finish === 'cancelled' && view.cursor >= timeline.length) return words.text('stopped_after', { n });
    return words.text('round_of', { r: view.round + 1, n });
  }

  /** Once a round is over it is read out as a whole: while playing, and where its end was stepped or jumped to. */
  sayRound(done, view) {
    const { words, trace, timeline, playing } = this.scene;
    const over = done > 0 && (playing || timeline.rounds[done - 1].end === view.cursor);
    const said = over ? words.plain(roundSummary(trace, done - 1)) : '';
    if (this.spoken.textContent !== said) this.spoken.textContent = said; // else some readers would say it again
  }

  /** While playing not every step is read out, only every round. */
  showPlaying(playing) {
    this.sentence.setAttribute('aria-live', playing ? 'off' : 'polite');
  }
}
