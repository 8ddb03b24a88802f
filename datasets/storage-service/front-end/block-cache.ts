/** The unit in which the front end caches data and talks to the data storage node. */
export const BLOCK_BYTES = 16 * 1024

/** One block of a file, as the front end keeps it. */
export interface Block {
  readonly file: string
  /** Which block of the file, from 0. */
  readonly number: number
  readonly bytes: Buffer
  /** Holds data that the storage node does not have yet. */
  dirty: boolean
  /** A write-back under way. */
  writeBack: Promise<void> | undefined
}

/**
 * Blocks in memory. When there are more than `capacity`, the least recently used clean block goes;
 * dirty ones stay until they have been written back.
 */
export class BlockCache {
  readonly #capacity: number
  /** By file and number, in the order of use, the least recently used block first. */
  readonly #blocks = new Map<string, Block>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#blocks.size
  }

  /** A block, now the most recently used one. */
  get(file: string, number: number): Block | undefined {
    const key = keyOf(file, number)
    const block = this.#blocks.get(key)
    if (block !== undefined) {
      this.#blocks.delete(key)
      this.#blocks.set(key, block)
    }
    return block
  }

  /** Keeps a new, clean block. */
  add(file: string, number: number, bytes: Buffer): Block {
    const block = { file, number, bytes, dirty: false, writeBack: undefined }
    this.keep(block)
    return block
  }

  /** Keeps a block, even one that has meanwhile had to go. */
  keep(block: Block): void {
    this.#blocks.set(keyOf(block.file, block.number), block)
    this.#evict(block)
  }

  /** Dirty blocks, of one file or of all, the least recently used first. */
  dirty(file?: string): Block[] {
    return [...this.#blocks.values()].filter(
      (block) => block.dirty && (file === undefined || block.file === file),
    )
  }

  /** Forgets a file; the answer holds the blocks it had. */
  drop(file: string): Block[] {
    const dropped = [...this.#blocks.values()].filter((block) => block.file === file)
    for (const { number } of dropped) this.#blocks.delete(keyOf(file, number))
    return dropped
  }

  #evict(newest: Block): void {
    for (const [key, block] of this.#blocks) {
      if (this.#blocks.size <= this.#capacity) return
      if (!block.dirty && block.writeBack === undefined && block !== newest) {
        this.#blocks.delete(key)
      }
    }
  }
}

const keyOf = (file: string, number: number) => `${file}#${number}`
