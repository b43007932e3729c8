/**
 * The entry: `Specviz.mount(host, options)` puts a stage into an element.
 *
 * options   trace     schema "specviz-trace/1", or null
 *           strings   {key: text} of one language, the content of stage.json
 *           lang      its language tag
 *           cursor    where to begin
 *           until     a cursor that is not gone beyond; without one: the end
 *           status    null or {kind: 'loading'|'queued'|'error'|'empty'|'running', ...}; see cards.js
 *           preview   null or an edited tree, shown until the run is played or stepped; see treepreview.js
 *           play      true: begin to play
 *           onchange  (cursor, {round, phase, index, told, playing}) after every change of the cursor; told: whether the
 *                     outcome of the round has been
 *           onselect  ({round, position, branch} | null) when a position is pinned or let go; see selection.js
 *
 * The stage that comes back has set, append, seek, cursorAt, play, playTo, pause, toggle, select, attend, key and
 * destroy.
 */
import { Stage } from './stage.js';
import { buildTimeline, viewAt } from './timeline.js';

/** @returns {Stage} */
export function mount(host, options) {
  return new Stage(host, options || {});
}

globalThis.Specviz = { mount, buildTimeline, viewAt };
