import type { FrontEndConfiguration } from '../cases/configuration.ts'
import { inStep } from '../telemetry/span.ts'
import { BLOCK_BYTES, type Block, BlockCache } from './block-cache.ts'
import { type BlockPart, blockParts, runs } from './block-range.ts'
import type { DataNode } from './data-nodes.ts'

export interface FileWrite {
  readonly offset: number
  readonly bytes: Buffer
  /** Whether it has to be on the storage node when this is done. */
  readonly stable: boolean
  /** Of the file before this write. */
  readonly sizeBytes: number
}

/**
 * The data of files: blocks in memory, and on the data storage node whatever is not. Requests on
 * the same file take turns (see the front end's file locks).
 */
export class FileData {
  readonly #cache: BlockCache
  readonly #node: DataNode
  readonly #configuration: FrontEndConfiguration

  constructor(node: DataNode, configuration: FrontEndConfiguration) {
    this.#node = node
    this.#configuration = configuration
    this.#cache = new BlockCache(configuration.cacheBlocks)
  }

  async read(file: string, offset: number, count: number): Promise<Buffer> {
    const parts = blockParts(offset, count)
    const blocks = await this.#load(file, parts, () => true)
    const pieces = blocks.map(({ bytes }, i) => bytes.subarray(parts[i]?.from, parts[i]?.to))
    // One piece is handed out as it is: it is copied into the answer before anyone can change it.
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
  }

  /**
   * Writes into blocks in memory. A block that is written only in part has to be there whole, so
   * it is read from the storage node if it is not in memory: a read-modify-write.
   */
  async write(file: string, { offset, bytes, stable, sizeBytes }: FileWrite): Promise<void> {
    const parts = blockParts(offset, bytes.length)
    const blocks = await this.#load(file, parts, (part) => keepsOldBytes(part, sizeBytes))
    let at = 0
    for (const [i, block] of blocks.entries()) {
      at += bytes.copy(block.bytes, parts[i]?.from ?? 0, at)
      block.dirty = true
      this.#cache.keep(block)
    }
    if (stable) await this.#writeBackAll(blocks)
    else await this.#relieve()
  }

  /** Writes back whatever of the file is only in memory; resolves to the number of blocks. */
  async commit(file: string): Promise<number> {
    const dirty = this.#cache.dirty(file)
    await this.#writeBackAll(dirty)
    return dirty.length
  }

  async remove(file: string): Promise<void> {
    for (const block of this.#cache.drop(file)) {
      block.dirty = false
      await block.writeBack
    }
    await this.#node.call('SN REMOVE', { object: file })
  }

  /** The blocks of these parts; those not in memory are read, or blank if they are not `needed`. */
  async #load(
    file: string,
    parts: readonly BlockPart[],
    needed: (part: BlockPart) => boolean,
  ): Promise<Block[]> {
    const blocks = inStep('cache lookup', (span) => {
      const hits = parts.map(({ number }) => this.#cache.get(file, number))
      const count = hits.filter((block) => block !== undefined).length
      span.setAttributes({ 'cache.hits': count, 'cache.misses': parts.length - count })
      return hits
    })
    const missing = parts.filter((part, i) => blocks[i] === undefined && needed(part))
    const read = new Map<number, Block>()
    for (const run of runs(missing.map(({ number }) => number))) {
      for (const block of await this.#fetch(file, run)) read.set(block.number, block)
    }
    return parts.map(
      ({ number }, i) =>
        blocks[i] ?? read.get(number) ?? this.#cache.add(file, number, Buffer.alloc(BLOCK_BYTES)),
    )
  }

  async #fetch(file: string, run: { first: number; length: number }): Promise<Block[]> {
    const place = { object: file, offset: run.first * BLOCK_BYTES, count: run.length * BLOCK_BYTES }
    const { body } = await this.#node.call('SN READ', place)
    return Array.from({ length: run.length }, (_, i) => {
      const bytes = Buffer.alloc(BLOCK_BYTES)
      body.copy(bytes, 0, i * BLOCK_BYTES)
      return this.#cache.add(file, run.first + i, bytes)
    })
  }

  /** Writes the oldest dirty blocks back when there are too many. */
  async #relieve(): Promise<void> {
    const dirty = this.#cache.dirty()
    const { dirtyBlockLimit, writeBackBatch } = this.#configuration
    if (dirty.length > dirtyBlockLimit) await this.#writeBackAll(dirty.slice(0, writeBackBatch))
  }

  async #writeBackAll(blocks: readonly Block[]): Promise<void> {
    for (const block of blocks) {
      while (block.writeBack !== undefined) await block.writeBack
      if (!block.dirty) continue
      block.dirty = false
      block.writeBack = this.#writeBlock(block)
      await block.writeBack
    }
  }

  async #writeBlock(block: Block): Promise<void> {
    try {
      const place = { object: block.file, offset: block.number * BLOCK_BYTES }
      await this.#node.call('SN WRITE', place, block.bytes)
    } catch (error) {
      block.dirty = true
      throw error
    } finally {
      block.writeBack = undefined
    }
  }
}

/** Whether bytes that the file already has in this block outlive a write of `part`. */
function keepsOldBytes({ number, from, to }: BlockPart, sizeBytes: number): boolean {
  const held = Math.min(sizeBytes - number * BLOCK_BYTES, BLOCK_BYTES)
  return held > 0 && (from > 0 || to < held)
}
