/** The bar at the bottom: buttons, ribbon, speed, help. */
import { button, el, svgEl } from './dom.js';
import { KEY_HELP } from './keys.js';
import { Ribbon } from './ribbon.js';
import { isTreeConfig } from './trace.js';

const SPEEDS = [0.5, 1, 2, 4];
const BUTTON_PATHS = {
  first: 'M4 4h2v12H4zM16 4v12l-9-6z',
  back: 'M14 4v12l-9-6z',
  play: 'M5 3v14l12-7z',
  pause: 'M5 4h4v12H5zM11 4h4v12h-4z',
  forward: 'M6 4v12l9-6z',
  last: 'M14 4h2v12h-2zM4 4v12l9-6z',
};
export class Transport {
  constructor(scene, speed) {
    this.scene = scene;
    this.ribbon = new Ribbon(scene);
    this.play = this.roundButton('play', () => scene.toggle());
    this.play.classList.add('sv-primary');
    this.help = this.helpList();
    const keys = el('div', 'sv-buttons',
      this.roundButton('first', () => scene.seek(0)),
      this.roundButton('back', () => scene.step(-1)),
      this.play,
      this.roundButton('forward', () => scene.step(1)),
      this.roundButton('last', () => scene.seek(Infinity)));
    this.ask = button('sv-button sv-ask', () => this.toggleHelp(), '?');
    this.name(this.ask, 'help');
    this.element = el('footer', 'sv-transport', keys, this.ribbon.element, this.speedChoice(speed), this.ask, this.help);
    this.toggleHelp(false);
  }

  name(node, key) {
    node.title = this.scene.words.text(key);
    node.setAttribute('aria-label', node.title);
  }

  roundButton(key, onclick) {
    const node = button('sv-button', onclick, svgEl('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svgEl('path', { d: BUTTON_PATHS[key] })));
    this.name(node, key);
    return node;
  }

  speedChoice(speed) {
    const choice = el('select', 'sv-speed');
    choice.setAttribute('aria-label', this.scene.words.text('speed'));
    for (const value of SPEEDS) {
      const option = el('option', '', value + '×');
      option.value = String(value);
      option.selected = value === speed;
      choice.append(option);
    }
    choice.addEventListener('change', () => this.scene.setSpeed(Number(choice.value)));
    return choice;
  }

  helpList() {
    const { words, trace } = this.scene;
    const keys = KEY_HELP.filter(([, key]) => key !== 'help_zoom' || isTreeConfig(trace.config));
    const cap = (name) => el('kbd', '', name.startsWith('key_') ? words.text(name) : name);
    return el('div', 'sv-help', el('dl', '', keys.map(([caps, key]) => el('div', '', el('dt', '', caps.map(cap)), el('dd', '', words.text(key))))));
  }

  toggleHelp(open = this.help.hidden) {
    this.help.hidden = !open;
    this.ask.setAttribute('aria-expanded', String(open));
  }

  /** Play or pause, whichever a press would do. */
  showPlaying(playing) {
    const key = playing ? 'pause' : 'play';
    if (this.shown === key) return;
    this.shown = key;
    this.play.querySelector('path').setAttribute('d', BUTTON_PATHS[key]);
    this.name(this.play, key);
  }
}
