import type { SpanIds } from './span-ids.ts'

/** Finds spans by id within one trace; the table is reused from trace to trace. */
export class SpanIndex {
  readonly #ids: SpanIds
  /** Open addressing: row + 1, 0 where free. */
  #slots = new Int32Array(256)
  #mask = 255

  constructor(ids: SpanIds) {
    this.#ids = ids
  }

  /** Forgets the last trace and makes room for `count` spans. */
  reset(count: number): void {
    while (this.#slots.length < count * 2) this.#slots = new Int32Array(this.#slots.length * 2)
    this.#mask = this.#slots.length - 1
    this.#slots.fill(0)
  }

  /** Adds `row`; gives back the row that already has its id, or -1. */
  add(row: number): number {
    const slot = this.#slot(this.#ids, row)
    const taken = (this.#slots[slot] as number) - 1
    if (taken < 0) this.#slots[slot] = row + 1
    return taken
  }

  /** The row whose id is `ids[row]`, or -1. */
  find(ids: SpanIds, row: number): number {
    return (this.#slots[this.#slot(ids, row)] as number) - 1
  }

  #slot(ids: SpanIds, row: number): number {
    let slot = ids.hash(row) & this.#mask
    for (
      let found = this.#slots[slot] as number;
      found !== 0 && !ids.same(row, this.#ids, found - 1);
      found = this.#slots[slot] as number
    ) {
      slot = (slot + 1) & this.#mask
    }
    return slot
  }
}
