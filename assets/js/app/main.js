/** The page's own script: ties Gradio's components to the stages. Python calls it through `SpecvizApp`. */
import { attach, peek, positionOf, roundOf } from './stages.js';
import { copyLink, download, example, language, notes, onlyOne, relabel, unfold } from './controls.js';

globalThis.SpecvizApp = { attach, copyLink, download, example, language, notes, onlyOne, peek, positionOf, relabel, roundOf, unfold };
