import { BLOCK_BYTES } from './block-cache.ts'

/** The part of one block that a request touches. */
export interface BlockPart {
  readonly number: number
  /** Within the block. */
  readonly from: number
  readonly to: number
}

/** The parts of blocks that `count` bytes from `offset` cover, in order. */
export function blockParts(offset: number, count: number): BlockPart[] {
  const parts: BlockPart[] = []
  const end = offset + count
  for (let at = offset; at < end; ) {
    const number = Math.floor(at / BLOCK_BYTES)
    const start = number * BLOCK_BYTES
    const to = Math.min(end - start, BLOCK_BYTES)
    parts.push({ number, from: at - start, to })
    at = start + to
  }
  return parts
}

/** Ascending numbers as runs without gaps. */
export function runs(numbers: readonly number[]): { first: number; length: number }[] {
  const found: { first: number; length: number }[] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last !== undefined && last.first + last.length === number) last.length += 1
    else found.push({ first: number, length: 1 })
  }
  return found
}
