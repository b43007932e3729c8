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

/** The text of whole UTF-8 characters, or null while one is incomplete. */
export function decodeBytes(hex) {
  try {
    const bytes = Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null; // not (yet) valid
    throw error;
  }
}

/**
 * Which bytes of which character each token of a sequence holds: `{ch, i, n}`, bytes i ("1" or "1–2") of n, or null
 * where a token holds no fragment or its character is not whole yet. Pure.
 */
export function byteParts(vocab, ids) {
  const parts = ids.map(() => null);
  const bytes = ids.flatMap((id, owner) => {
    const { kind, text } = lookupToken(vocab, id);
    return kind === 'bytes' ? (text.match(/../g) || []).map((hex) => ({ hex, owner })) : [{ hex: null, owner }];
  });
  for (let at = 0; at < bytes.length; at++) {
    const length = characterLength(bytes[at].hex);
    const run = bytes.slice(at, at + length);
    if (length < 2 || run.length < length || run.some(({ hex }) => hex === null)) continue;
    const ch = decodeBytes(run.map(({ hex }) => hex).join(''));
    if (ch === null) continue;
    for (const owner of new Set(run.map((b) => b.owner))) {
      const mine = run.map((b, i) => (b.owner === owner ? i + 1 : 0)).filter(Boolean);
      if (!parts[owner] && mine.length < length) parts[owner] = { ch, i: mine.length > 1 ? mine[0] + '–' + mine.at(-1) : String(mine[0]), n: length };
    }
    at += length - 1;
  }
  return parts;
}

/** Bytes of the UTF-8 character that begins with this byte; 0 where none does. */
function characterLength(hex) {
  const lead = hex === null ? 0x80 : parseInt(hex, 16);
  return lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

/** A token in one line of plain text, safe in a title or an accessible name. */
export function tokenName(vocab, id) {
  const { kind, text } = lookupToken(vocab, id);
  if (kind === 'bytes') return spacedBytes(text);
  if (kind !== 'text') return kind === 'special' ? glyphText(text) : text;
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
  const shown = kind === 'bytes' ? [spacedBytes(text)] : glyphNodes(text);
  const piece = el('span', 'sv-token sv-kind-' + kind + (className ? ' ' + className : ''), shown);
  piece.title = tokenName(vocab, id) + ' · ' + id;
  return piece;
}

/**
 * A token in running text. `pending` holds the hexadecimal bytes of a character that is not whole yet, from one token to
 * the next: such a token is a dot, and the character comes with its last byte.
 */
export function runningToken(vocab, id, className, pending) {
  const { kind, text } = lookupToken(vocab, id);
  if (kind !== 'bytes') pending.length = 0;
  if (kind === 'special' || kind === 'unknown') return tokenPiece(vocab, id, className);
  let shown;
  if (kind === 'text') shown = glyphNodes(text, true).flatMap((node) => (node.className && node.textContent === '↵' ? [node, '\n'] : node));
  else {
    pending.push(text);
    const whole = decodeBytes(pending.join(''));
    if (whole !== null) pending.length = 0;
    shown = whole === null ? el('i', 'sv-glyph', '·') : el('bdi', '', whole);
  }
  const piece = el('span', 'sv-token ' + className, shown);
  piece.title = tokenName(vocab, id);
  return piece;
}

/** Tokens as one run of plain text: bytes are joined to characters where they make such, else written out. */
export function runningText(vocab, ids) {
  const runs = [];
  for (const id of ids) {
    const { kind, text } = lookupToken(vocab, id);
    const last = runs.at(-1);
    if (kind === 'bytes' && last && last.kind === 'bytes') last.text += text;
    else runs.push({ kind, text });
  }
  return runs.map(({ kind, text }) => (kind === 'bytes' ? decodeBytes(text) ?? spacedBytes(text) : glyphText(text, true))).join('');
}
