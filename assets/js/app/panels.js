/**
 * The lists and the mask under the Tree tab's stage: the node that is selected on the stage is marked in all of them, and
 * a click on a node in any of them selects it on the stage. What stands for node i has the attribute data-node="i".
 */
const PANELS = '.sv-p-follow';

/** Marks the selected node, and has each list scroll to it; the page itself stays where it is. */
export function markSelected(position) {
  for (const panels of document.querySelectorAll(PANELS)) {
    for (const one of panels.querySelectorAll('[data-node]')) {
      one.classList.toggle('sv-p-on', position !== null && (Number(one.dataset.node) === position || holds(one, position)));
    }
    for (const list of panels.querySelectorAll('.sv-p-scroll, .sv-p-paths')) {
      const row = list.querySelector('li.sv-p-on, tr.sv-p-on');
      if (row) list.scrollTop += row.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
    }
  }
}

/** Whether a path runs through a node. */
function holds(item, position) {
  return item.tagName === 'LI' && item.querySelector(`[data-node="${position}"]`) !== null;
}

const linked = new WeakSet();

/**
 * Ties the panels to the stage, once.
 * @param {(node: number) => void} select   selects a node on the stage
 * @param {() => number|null} selected      the one that is selected there
 */
export function linkPanels(select, selected) {
  for (const panels of document.querySelectorAll(PANELS)) {
    if (linked.has(panels)) continue;
    linked.add(panels);
    panels.addEventListener('click', ({ target }) => {
      const one = target.closest('[data-node]');
      if (one) select(Number(one.dataset.node));
    });
    const renew = () => {
      markSelected(selected());
      for (const plot of panels.querySelectorAll('.js-plotly-plot')) linkMask(plot, select);
    };
    new MutationObserver(renew).observe(panels, { childList: true, subtree: true }); // marks change no child
    renew();
  }
}

/** A row of the mask is a token of the pass: the text's last one, then the nodes. */
function linkMask(plot, select) {
  if (!plot.on || linked.has(plot)) return;
  linked.add(plot);
  plot.on('plotly_click', ({ points }) => {
    if (points[0].y > 0) select(points[0].y - 1);
  });
}
