/**
 * Tokens as they are seen. Model output is foreign text: it enters the page through textContent alone, white space
 * and characters that cannot be seen are spelled out, and each run is isolated so that no token can turn the
 * direction of its neighbours.
 */
import { el } from './dom.js';

const SPACE_MARKS = { ' ': '␣', '\n': '↵', '\t': '⇥', '\r': '␍' };
/* Controls, soft hyphen, zero-width, bidi marks and overrides, odd spaces, separators, BOM, tags, private use and
   noncharacters, lone surrogates. Joiners and variation selectors (200C, 200D, FE00-FE0F) are handled apart. */
const UNSEEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ue000-\uf8ff\ufeff\ufff0-\ufffb\uffff\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/u;
const JOINER = /[\u200c\u200d\ufe00-\ufe0f]/;
const COMBINING = /^\p{M}/u;

/**
 * What a token id is: `{kind: 'text'|'bytes'|'special'|'unknown', text}`; bytes as hexadecimal.
 */
export function lookupToken(vocab, id) {
  const entry = Object.prototype.hasOwnProperty.call(vocab, id) ? vocab[id] : null;
  if (entry == null) return { kind: 'unknown', text: '#' + id };
  if (typeof entry === 'string') return { kind: 'text', text: entry };
  return entry.bytes != null ? { kind: 'bytes', text: entry.bytes } : { kind: 'special', text: entry.special };
}

/**
 * A text cut into runs `{mark: false, text}` and spelled-out characters `{mark: true, text, source}`. Pure.
 * With `soft` plain spaces stay spaces, as in running text.
 */
export function glyphRuns(text, soft = false) {
  const runs = [];
  let run = '';
  const flush = () => {
    if (run) runs.push({ mark: false, text: COMBINING.test(run) ? '◌' + run : run });
    run = '';
  };
  for (const ch of text) {
    const orphan = JOINER.test(ch) && !run; // a joiner that joins nothing
    if (SPACE_MARKS[ch] && !(soft && ch === ' ')) {
      flush();
      runs.push({ mark: true, text: SPACE_MARKS[ch], source: ch });
    } else if (!(soft && ch === ' ') && (orphan || UNSEEN.test(ch))) {
      flush();
      runs.push({ mark: true, text: codePoint(ch), source: ch });
    } else run += ch;
  }
  flush();
  return runs;
}

function codePoint(ch) {
  return 'U+' + ch.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
}

/** Hexadecimal bytes as they are shown: E4·B8. */
export function spacedBytes(hex) {
  return (hex.match(/../g) || []).join('·').toUpperCase();
}

/** A special token without its brackets: im_end. */
function bareSpecial(text) {
  return text.replace(/^<\|?|\|?>$/g, '') || text;
}

/** A token in one line of plain text, safe in a title or an accessible name. */
export function tokenName(vocab, id) {
  const { kind, text } = lookupToken(vocab, id);
  if (kind === 'bytes') return spacedBytes(text);
  if (kind !== 'text') return kind === 'special' ? '⟨' + glyphText(bareSpecial(text)) + '⟩' : text;
  return '“' + glyphText(text, true) + '”';
}

function glyphText(text, soft) {
  return glyphRuns(text, soft).map((run) => run.text).join('');
}

/** The nodes of a text: isolated runs, and the spelled-out characters between them. */
export function glyphNodes(text, soft) {
  return glyphRuns(text, soft).map((run) => el(run.mark ? 'i' : 'bdi', run.mark ? 'sv-glyph' : '', run.text));
}

/** A token as an inline piece or, with the class "sv-chip", as a chip. */
export function tokenPiece(vocab, id, className) {
  const { kind, text } = lookupToken(vocab, id);
  const shown = kind === 'bytes' ? [spacedBytes(text)] : glyphNodes(kind === 'special' ? bareSpecial(text) : text);
  const piece = el('span', 'sv-token sv-kind-' + kind + (className ? ' ' + className : ''), shown);
  piece.title = tokenName(vocab, id) + ' · ' + id;
  return piece;
}
