/** Which tab is open, and which settings make sense: as attributes of the body, which the style sheet reads. */
import { MAIN, placeOnBoard } from './stages.js';

const TABS = ['step', 'tree'];

export function currentTab() {
  return document.body.dataset.svTab || TABS[0];
}

/** From the link (?tab=). */
export function wantedTab() {
  const wish = new URLSearchParams(location.search).get('tab');
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

/** Scrolls the lists of the Tree tab to what belongs to the selected node. The page itself stays where it is. */
export function showSelected() {
  requestAnimationFrame(() => {
    for (const list of document.querySelectorAll('.sv-p-follow .sv-p-scroll, .sv-p-follow .sv-p-paths')) {
      const row = list.querySelector('li.sv-p-on, tr.sv-p-on');
      if (row) list.scrollTop += row.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
    }
  });
}

/** Who drafts, whether a tree, and by which rule it is judged. */
export function mark(method, tree, verify) {
  Object.assign(document.body.dataset, { svMethod: method, svShape: tree ? 'tree' : 'chain', svVerify: verify });
}
