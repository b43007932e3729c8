/**
 * The Race tab: ties the replay (assets/js/race) to Gradio and to the page's language and tabs.
 *
 * Messages come from specviz/ui/race_handlers.py: {id, race, status}. The race on show is kept here, so that it
 * comes back when Gradio mounts the component anew.
 */
import { Replay } from './../race/replay.js';
import { text } from './language.js';

const ownRace = { replay: null, race: null, status: null, read: null };

/** A word of race.json; the drafters' names are those of the settings. */
function raceWord(key, values) {
  return text((key.startsWith('method_') ? 'ui.' : 'race.') + key, values);
}

/** Called by Gradio each time the component is mounted. */
export function attachRace({ element, props, watch }) {
  if (ownRace.replay) ownRace.replay.destroy();
  ownRace.replay = new Replay(element.querySelector('.sr-host'), raceWord);
  if (ownRace.race) ownRace.replay.show(ownRace.race, false);
  readRace(ownRace, props.value);
  tellStatus();
  watch('value', () => {
    readRace(ownRace, props.value);
    tellStatus();
  });
}

/** Reads a message, which comes as JSON text, once. Exported for tests. */
export function readRace(on, json) {
  const message = json && JSON.parse(json);
  if (!message || message.id === on.read) return;
  on.read = message.id;
  if ('race' in message) {
    on.race = message.race;
    on.replay.show(on.race, true);
  }
  if ('status' in message) on.status = message.status;
}

/** A status in the visitor's language. Exported for tests. */
export function raceStatus(status, word) {
  if (!status) return '';
  if (status.kind === 'progress') {
    const speed = status.ms > 0 ? ((1000 * status.tokens) / status.ms).toFixed(1) : '–';
    return word('track_running', { lane: word(status.lane ? 'lane_fast' : 'lane_plain'), tokens: status.tokens, limit: status.limit, speed });
  }
  if (status.kind === 'queued') return word('queued', { n: status.n });
  if (status.kind === 'stopped') return word('track_stopped');
  return word('track_warming');
}

function tellStatus() {
  const { replay, status } = ownRace;
  const worded = status && status.key ? text(status.key, status.values) : raceStatus(status, raceWord);
  replay.tell(worded, { error: 'wrong', stopped: 'over' }[status?.kind] || 'busy');
}

/** The replay follows the page: its language, and it pauses where nobody looks. */
export function followRace() {
  document.addEventListener('specviz:language', () => {
    if (!ownRace.replay) return;
    ownRace.replay.translate(raceWord);
    tellStatus();
  });
  document.addEventListener('specviz:tab', ({ detail }) => {
    if (detail === 'race') globalThis.dispatchEvent(new Event('resize')); // charts that were drawn unseen have no width
    else if (ownRace.replay && ownRace.race) ownRace.replay.pause();
  });
}

/** The race on show, for tests. */
export function peekRace() {
  const { replay, race, status } = ownRace;
  if (!replay) return null;
  const now = performance.now();
  const { clock } = replay;
  return { race, status, at: clock.at(now), total: clock.total, playing: clock.playing(now), shown: replay.lanes.map((lane) => lane.shown) };
}
