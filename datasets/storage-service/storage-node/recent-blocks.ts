import { BLOCK_BYTES } from '../front-end/block-cache.ts'

/** A stretch of an object. */
export interface Stretch {
  readonly object: string
  readonly offset: number
  readonly count: number
}

/**
 * Whole blocks that were read or written lately, in memory; the least recently used goes first.
 * Stretches that are not whole blocks, such as index pages, are not kept.
 */
export class RecentBlocks {
  readonly #capacity: number
  readonly #blocks = new Map<string, Buffer>()
  readonly #writes = new Map<string, number>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Writes and removals of an object so far: what was read before another must not be kept. */
  writesTo(object: string): number {
    return this.#writes.get(object) ?? 0
  }

  /** The bytes of a stretch of whole blocks, if all of them are here. */
  find(stretch: Stretch): Buffer | undefined {
    const found: Buffer[] = []
    for (const number of numbersOf(stretch)) {
      const key = keyOf(stretch.object, number)
      const bytes = this.#blocks.get(key)
      if (bytes === undefined) return undefined
      this.#keep(key, bytes)
      found.push(bytes)
    }
    return Buffer.concat(found)
  }

  /** Keeps what was read, unless the object has been written to since `writes`. */
  keepRead(stretch: Stretch, bytes: Buffer, writes: number): void {
    if (writes === this.writesTo(stretch.object)) this.#keepBlocks(stretch, bytes)
  }

  /** Keeps what was written; a block that was written only in part goes. */
  keepWritten(stretch: Stretch, bytes: Buffer): void {
    const { object } = stretch
    this.#writes.set(object, this.writesTo(object) + 1)
    for (const number of numbersOf(stretch)) this.#blocks.delete(keyOf(object, number))
    if (isWhole(stretch)) this.#keepBlocks(stretch, bytes)
  }

  drop(object: string): void {
    this.#writes.set(object, this.writesTo(object) + 1)
    for (const key of [...this.#blocks.keys()]) {
      if (key.slice(0, key.lastIndexOf('#')) === object) this.#blocks.delete(key)
    }
  }

  #keepBlocks(stretch: Stretch, bytes: Buffer): void {
    for (const [i, number] of numbersOf(stretch).entries()) {
      const block = bytes.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES)
      if (block.length === BLOCK_BYTES)
        this.#keep(keyOf(stretch.object, number), Buffer.from(block))
    }
  }

  #keep(key: string, bytes: Buffer): void {
    this.#blocks.delete(key)
    this.#blocks.set(key, bytes)
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > this.#capacity && oldest !== undefined) this.#blocks.delete(oldest)
  }
}

/** Whether a stretch begins and ends where blocks do. */
export function isWhole({ offset, count }: Stretch): boolean {
  return offset % BLOCK_BYTES === 0 && count % BLOCK_BYTES === 0
}

function numbersOf({ offset, count }: Stretch): number[] {
  const first = Math.floor(offset / BLOCK_BYTES)
  const end = Math.ceil((offset + count) / BLOCK_BYTES)
  return Array.from({ length: end - first }, (_, i) => first + i)
}

const keyOf = (object: string, number: number) => `${object}#${number}`
