/** The lab's own script: two distributions that one drags. The host page calls SpecvizProof.mount. */
import { Lab } from './lab.js';

globalThis.SpecvizProof = { mount: (host, options) => new Lab(host, options) };
