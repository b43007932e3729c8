/**
 * The text so far: the prompt folded away, then every token of every round, marked by where it came from. Bytes of a
 * character that is not whole yet are dots; the character appears with its last byte.
 */
import { Binder, el, icon } from './dom.js';
import { byteParts, lookupToken, runningToken, tokenName } from './tokens.js';
import { finalPosition, isPlain } from './trace.js';

export class TextSoFar {
  constructor(scene) {
    this.scene = scene;
    this.binder = new Binder();
    this.pending = []; // hexadecimal bytes still waiting for the rest of their character
    this.fragments = []; // the pieces of the present run of bytes
    this.groups = [];
    const { words, trace } = scene;
    this.caret = el('span', 'sv-caret');
    this.run = el('div', 'sv-run', this.prompt(), this.caret);
    this.run.tabIndex = 0;
    this.run.setAttribute('role', 'region');
    this.run.setAttribute('aria-label', words.text('row_text'));
    this.run.addEventListener('click', (event) => this.clicked(event));
    this.element = el('div', 'sv-text', el('div', 'sv-label', el('b', '', words.text('row_text'))), this.run);
    this.append(trace.rounds);
  }

  prompt() {
    const { words, trace } = this.scene;
    const body = el('span');
    this.fold = el('details', 'sv-prompt-fold', el('summary', '', words.text('prompt', { n: trace.prompt.tokens.length })), body);
    this.fold.addEventListener('toggle', () => { // a prompt can be thousands of tokens: drawn when it is asked for
      const pending = [];
      if (this.fold.open && !body.childNodes.length) body.append(...trace.prompt.tokens.map((id) => runningToken(trace.vocab, id, 'sv-from-prompt', pending)));
      this.run.classList.toggle('sv-open', this.fold.open);
      if (this.fold.open) this.run.scrollTop = 0;
      else this.follow();
    });
    return this.fold;
  }

  /** Adds rounds at the end; what is there stays as it is. */
  append(rounds) {
    const { trace, words } = this.scene;
    for (const round of rounds) {
      const group = el('span', 'sv-group');
      const emitted = round.path.map((i) => ({ id: round.draft.tokens[i], kind: 'accepted', position: i }));
      if (round.final) emitted.push({ id: round.final.token, kind: round.final.kind, position: finalPosition(trace, round) });
      // where every token is the target's own, a mark on each would say nothing
      const marked = !isPlain(trace);
      for (const { id, kind, position } of emitted) {
        const piece = runningToken(trace.vocab, id, marked ? 'sv-from sv-' + kind : 'sv-from', this.pending);
        const origin = words.text('text_title', { kind: words.text(kind), n: round.index + 1 }) + ' · ';
        const meaning = '\n' + words.text(kind === 'target' ? 'e_fromtarget' : 'e_' + kind);
        this.nameFragments({ id, piece, title: (name) => origin + name + meaning });
        if (marked && kind !== 'accepted') piece.append(el('sup', '', icon(kind)));
        Object.assign(piece.dataset, { round: round.index, position });
        group.append(piece);
      }
      this.groups[round.index] = this.binder.bind(group, this.scene.timeline.rounds[round.index].commit);
      this.caret.before(group);
    }
  }

  /** Titles; those of bytes name their character as soon as the last of it has come. */
  nameFragments(entry) {
    const { trace, words } = this.scene;
    if (lookupToken(trace.vocab, entry.id).kind === 'bytes') this.fragments.push(entry);
    else this.fragments = [];
    entry.piece.title = entry.title(tokenName(trace.vocab, entry.id));
    byteParts(trace.vocab, this.fragments.map(({ id }) => id)).forEach((part, i) => {
      const { id, piece, title } = this.fragments[i];
      if (part) piece.title = title(words.text('byte_part', { bytes: tokenName(trace.vocab, id), ...part }));
    });
  }

  clicked(event) {
    const piece = event.target.closest('.sv-from');
    if (piece) this.scene.visit(+piece.dataset.round, +piece.dataset.position);
  }

  paint(cursor) {
    this.binder.paint(cursor);
  }

  show(view) {
    this.groups.forEach((group, i) => group.classList.toggle('sv-now', i === view.round));
  }

  /** The newest text is in sight, unless the prompt is being read. */
  follow() {
    if (!this.fold.open) this.run.scrollTop = this.run.scrollHeight;
  }
}
