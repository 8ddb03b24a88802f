import { BLOCK_BYTES } from '../../front-end/block-cache.ts'
import type { Random } from '../../random.ts'
import type { Step } from '../step.ts'

const MOST_BYTES = 4 * BLOCK_BYTES

/** A file that a workload has made, and how far it has grown. */
export interface OwnFile {
  readonly name: string
  sizeBytes: number
}

/** Adds `bytes` to the end of a file, in as few WRITEs as can be. */
export function* append(file: OwnFile, bytes: number, stable: boolean): Generator<Step, void> {
  const end = file.sizeBytes + bytes
  while (file.sizeBytes < end) {
    const offset = file.sizeBytes
    const count = Math.min(MOST_BYTES, end - offset)
    file.sizeBytes += count
    yield { kind: 'write', name: file.name, offset, count, stable }
  }
}

/** A new file of `bytes` bytes, in memory until it is closed. */
export function* writeNew(file: OwnFile, bytes: number): Generator<Step, void> {
  yield { kind: 'create', name: file.name }
  yield* append(file, bytes, false)
  yield { kind: 'commit', name: file.name }
}

/** Opens a file and reads it from its start to its end. */
export function* readWhole({ name, sizeBytes }: OwnFile): Generator<Step, void> {
  yield { kind: 'lookup', name }
  for (let offset = 0; offset < sizeBytes; offset += MOST_BYTES) {
    yield { kind: 'read', name, offset, count: Math.min(MOST_BYTES, sizeBytes - offset) }
  }
}

/** A size evenly between two others. */
export function sizeBetween(
  { least, most }: { readonly least: number; readonly most: number },
  random: Random,
): number {
  return least + random.below(most - least + 1)
}
