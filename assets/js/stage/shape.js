/**
 * The shape of a draft: who continues whom, and the order in which its nodes are judged. Pure.
 *
 * Nodes are numbered parents first, siblings in the order they are tried; -1 is the root, the last token of the text.
 * A context is a place where a next token is wanted: 0 after the text, i + 1 after node i. Node i was drawn and judged
 * in context parents[i] + 1. In a chain that is i.
 */

export class Tree {
  /** @param {number[]} parents */
  constructor(parents) {
    this.parents = parents;
    this.size = parents.length;
    this.children = Array.from({ length: this.size + 1 }, () => []); // of each context
    this.depths = []; // 1 for the root's children
    this.ranks = []; // how many siblings stand before a node
    parents.forEach((parent, node) => {
      const siblings = this.children[parent + 1];
      this.ranks.push(siblings.length);
      siblings.push(node);
      this.depths.push(parent < 0 ? 1 : this.depths[parent] + 1);
    });
    this.depth = Math.max(0, ...this.depths);
  }

  /** The nodes of a depth, in order. */
  level(depth) {
    return this.depths.flatMap((at, node) => (at === depth ? [node] : []));
  }

  /** From the root's child down to the node itself; none for -1. */
  path(node) {
    const found = [];
    for (let at = node; at >= 0; at = this.parents[at]) found.unshift(at);
    return found;
  }

  /** The siblings that are tried before a node. */
  before(node) {
    return this.children[this.parents[node] + 1].slice(0, this.ranks[node]);
  }

  /** Whether a node is the last of its siblings. */
  isLast(node) {
    return this.children[this.parents[node] + 1].at(-1) === node;
  }

  /** All nodes below a context, nearest first. */
  below(context) {
    return this.children[context].flatMap((node) => [node, ...this.below(node + 1)]);
  }
}

const trees = new WeakMap();

/** @returns {Tree} the same one every time */
export function treeOf(round) {
  if (!trees.has(round)) trees.set(round, new Tree(round.draft.parents));
  return trees.get(round);
}

export function isChain(parents) {
  return parents.every((parent, node) => parent === node - 1);
}

/** The context where the accepted path ends: there the round's last token is drawn. */
export function finalContext(round) {
  return round.path.length ? round.path.at(-1) + 1 : 0;
}

/** The judged nodes of a tree in the order tried: the siblings of each context, then those of the accepted one. */
export function walkOf(round) {
  const { children } = treeOf(round);
  const accepted = new Set(round.path);
  const walk = [];
  for (let context = 0; context !== null;) {
    const judged = children[context].filter((node) => round.verdicts[node].status !== 'unreached');
    walk.push(...judged);
    const next = judged.find((node) => accepted.has(node));
    context = next === undefined ? null : next + 1;
  }
  return walk;
}

/**
 * The node whose gate tells the fate of each node of a tree: its own where it was judged; else that of the rejected
 * ancestor, or of the sibling that was accepted instead of it or of its ancestor. Null: only the outcome tells.
 */
export function decidedBy(round) {
  const tree = treeOf(round);
  const status = (node) => round.verdicts[node].status;
  return tree.parents.map((_, node) => {
    if (status(node) !== 'unreached') return node;
    const line = tree.path(node);
    const off = line.find((one) => status(one) !== 'accepted'); // where its line leaves the accepted path
    if (status(off) === 'rejected') return off;
    const instead = tree.children[tree.parents[off] + 1].find((one) => status(one) === 'accepted');
    return instead === undefined ? null : instead;
  });
}
