/**
 * The connection to the server. Who waits for a run is told something every few seconds (BEAT in specviz/ui/flow.py), so
 * silence means that the connection is lost, and the stage says so. Gradio opens the page anew as soon as the server
 * answers again; a run that was interrupted is kept over that, and the server takes it back (specviz/ui/files_panel.py).
 */
const SILENCE = 15_000; // ms
const BUSY = ['running', 'queued', 'loading'];
const INTERRUPTED = 'specviz.interrupted'; // in the tab's own storage

/** A stage that waits for news. */
export function isBusy({ status }) {
  return Boolean(status) && BUSY.includes(status.kind);
}

/** The status of a stage that has waited in vain; null where all is well. */
export function lost(own, now) {
  return isBusy(own) && now - own.heard > SILENCE ? { kind: 'error', key: 'ui.connection_lost', title: 'ui.lost_title', values: {}, lost: true } : null;
}

/** The run on a stage as a file holds it, where it was interrupted; '' where there is nothing to go on from. */
export function interruptedRun(own) {
  const { trace, status } = own;
  const waited = isBusy(own) || Boolean(status && status.lost);
  if (!waited || !trace || trace.finish || !trace.rounds.length) return '';
  if (!Number.isSafeInteger(trace.config.seed)) return ''; // the browser has rounded it: other draws would follow
  return JSON.stringify(trace, (name, value) => (name === 'layout' ? undefined : value));
}

/** Keeps a text until the page is open again. */
export function keepInterrupted(text, storage = globalThis.sessionStorage) {
  try {
    if (text) storage.setItem(INTERRUPTED, text);
  } catch {
    storage.removeItem(INTERRUPTED); // too large, or storage is not allowed: half a run is none
  }
}

/** What was kept, once. */
export function interrupted(storage = globalThis.sessionStorage) {
  const text = storage.getItem(INTERRUPTED) || '';
  storage.removeItem(INTERRUPTED);
  return text;
}
