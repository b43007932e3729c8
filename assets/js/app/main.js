/** The page's own script: ties Gradio's components to the stages. Python calls it through `SpecvizApp`. */
import { attachLessons, followPage, peekLessons, readyToRun } from './learn.js';
import { attachToy, followProof, markProof, toyBars } from './proof.js';
import { openWith, relabel } from './labels.js';
import { followSwitch } from './language.js';
import { attachRace, followRace, peekRace } from './race.js';
import { attach, editing, followConnection, peek, placeOnBoard, positionOf, preview, roundOf } from './stages.js';
import { currentTab, mark, openTab, placeOf, selectTab, wantedTab } from './tabs.js';
import { copyAgain, copyCode } from './serve.js';
import { interrupted } from './silence.js';
import { tour } from './tour.js';
import { copyLink, download, example, fold, language, notes, onlyOne, unfold } from './controls.js';

globalThis.SpecvizApp = {
  attach, attachLessons, attachRace, attachToy, copyAgain, copyCode, copyLink, currentTab, download, example, fold, interrupted, language, mark, markProof, notes, onlyOne, openTab, openWith, peek, peekLessons, peekRace, placeOf, placeOnBoard, positionOf,
  preview, readyToRun, relabel, roundOf, selectTab, tour, toyBars, unfold, wantedTab,
};
followConnection();
followPage();
followProof();
followRace();
followSwitch();
for (const name of ['focusin', 'click', 'input']) {
  document.addEventListener(name, ({ target }) => {
    if (target.closest && target.closest('#sv-edit')) editing();
  });
}
