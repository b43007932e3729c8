/** The pinned position: which round, which column, and telling the host app of it. */
export class Selection {
  /** @param {(place: {round: number, position: number}|null) => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.round = null;
    this.position = null; // null: nothing is pinned, the inspector follows the run
  }

  /** Pins a position of a round; the same one again, or null, lets go. */
  toggle(round, position) {
    if (position === null || position === this.position) this.clear();
    else {
      this.round = round;
      this.position = position;
      this.changed({ round, position });
    }
  }

  clear() {
    if (this.position === null) return;
    this.position = null;
    this.changed(null);
  }

  /** The position next to the pinned one among `count`; from outside the first or the last. */
  neighbour(direction, count) {
    const from = this.position === null ? (direction > 0 ? -1 : count) : this.position;
    return Math.max(0, Math.min(count - 1, from + direction));
  }
}
