/** The pinned position: which round, which column, and telling the host app of it. */
export class Selection {
  /** @param {(place: {round: number, position: number|null, branch: number[]|null}|null) => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.round = null;
    this.position = null; // null: nothing is pinned, the inspector follows the run
    this.branch = null; // ranks of a node of an edited tree that no run has drafted; then `position` is null
  }

  /** Pins a position of a round; the same one again, or null, lets go. */
  toggle(round, position) {
    if (position === null || position === this.position) this.clear();
    else this.pin(round, position, null);
  }

  /** Selects a node that was not drafted yet; the same one again lets go. */
  toggleBranch(round, branch) {
    if (this.branch && this.branch.join() === branch.join()) this.clear();
    else this.pin(round, null, branch);
  }

  pin(round, position, branch) {
    Object.assign(this, { round, position, branch });
    this.changed({ round, position, branch });
  }

  clear() {
    if (this.position === null && this.branch === null) return;
    this.position = null;
    this.branch = null;
    this.changed(null);
  }

  /** The position next to the pinned one among `count`; from outside the first or the last. */
  neighbour(direction, count) {
    const from = this.position === null ? (direction > 0 ? -1 : count) : this.position;
    return Math.max(0, Math.min(count - 1, from + direction));
  }
}
