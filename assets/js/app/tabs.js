/** Which tab is open, and which settings make sense: as attributes of the body, which the style sheet reads. */
import { linkPanels } from './panels.js';
import { MAIN, peek, placeOnBoard, selectNode } from './stages.js';

const TABS = ['step', 'tree', 'race', 'proof', 'learn', 'serve'];

export function currentTab() {
  return document.body.dataset.svTab || TABS[0];
}

/** From the link (?tab=, or ?lesson=). */
export function wantedTab() {
  const query = new URLSearchParams(location.search);
  const wish = query.get('tab') || (query.has('lesson') ? 'learn' : '');
  return TABS.includes(wish) ? wish : TABS[0];
}

/**
 * Shows the parts of a tab. Returns the place on the board, for the tab that asks the server about it. A tab that was
 * opened with the pointer lets go of the focus, so that the keys go to the stage; one chosen with the keyboard keeps it.
 */
export function openTab(name) {
  const { activeElement } = document;
  if (activeElement && activeElement.matches('[role=tab]:not(:focus-visible)')) activeElement.blur();
  document.body.dataset.svTab = name;
  document.dispatchEvent(new CustomEvent('specviz:tab', { detail: name }));
  if (name === 'tree') linkPanels(selectNode, () => peek(MAIN).position);
  return placeOf(MAIN);
}

/** The update that selects the tab of the link, when the page opens. */
export function selectTab() {
  return { __type__: 'update', selected: wantedTab() };
}

/** "run/round/position" of a stage's board; empty while no tab is open that asks for it. */
export function placeOf(name) {
  return currentTab() === 'tree' ? placeOnBoard(name) : '';
}

/** Who drafts, whether a tree, and by which rule it is judged. */
export function mark(method, tree, verify) {
  Object.assign(document.body.dataset, { svMethod: method, svShape: tree ? 'tree' : 'chain', svVerify: verify });
}
