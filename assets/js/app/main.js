/** The page's own script: ties Gradio's components to the stages. Python calls it through `SpecvizApp`. */
import { attach, peek, placeOnBoard, positionOf, roundOf } from './stages.js';
import { mark, openTab, placeOf, selectTab, showSelected, wantedTab } from './tabs.js';
import { copyLink, download, example, language, notes, onlyOne, relabel, unfold } from './controls.js';

globalThis.SpecvizApp = {
  attach, copyLink, download, example, language, mark, notes, onlyOne, openTab, peek, placeOf, placeOnBoard, positionOf,
  relabel, roundOf, selectTab, showSelected, unfold, wantedTab,
};
