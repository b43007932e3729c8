/**
 * The keyboard of the page: one listener for all stages, so that keys work before anything has the focus. A key goes
 * to the stage that has the focus; where nothing has it, or a button that does not use the key, to the stage used last,
 * else to the first one in sight.
 */
const mounted = new Set();
let lastUsed = null;

/** Begins to send keys to a stage: `{host, key(event)}`. */
export function listen(stage) {
  if (!mounted.size) document.addEventListener('keydown', dispatchKey);
  mounted.add(stage);
  const used = () => { lastUsed = stage; };
  stage.host.addEventListener('pointerdown', used);
  stage.host.addEventListener('focusin', used);
}

export function unlisten(stage) {
  mounted.delete(stage);
  if (lastUsed === stage) lastUsed = null;
  if (!mounted.size) document.removeEventListener('keydown', dispatchKey);
}

function dispatchKey(event) {
  const stage = stageForKey([...mounted], lastUsed, event.target, isInSight);
  if (stage) stage.key(event);
}

/**
 * The stage that a key is for, or null. Pure.
 * @param {{host: HTMLElement}[]} stages      in the order of the page
 * @param {{host: HTMLElement}|null} last     the one used last
 * @param {HTMLElement} target                what has the focus
 * @param {(host: HTMLElement) => boolean} inSight
 */
export function stageForKey(stages, last, target, inSight) {
  const around = stages.find(({ host }) => host.contains(target));
  if (around) return around;
  if (target && !isIdle(target)) return null; // something else on the page has the focus
  const seen = stages.filter(({ host }) => inSight(host));
  return seen.includes(last) ? last : seen[0] || null;
}

/** Whether what has the focus leaves keys alone: a plain button has only the space bar, which keys.js leaves to it. */
function isIdle(target) {
  return /^(BODY|HTML)$/.test(target.tagName) || (target.tagName === 'BUTTON' && !target.getAttribute('role'));
}

function isInSight(host) {
  const { top, bottom, height } = host.getBoundingClientRect();
  return host.isConnected && height > 0 && bottom > 0 && top < innerHeight;
}
