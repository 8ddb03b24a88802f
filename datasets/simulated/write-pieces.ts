import { closeSync, openSync, renameSync, writeSync } from 'node:fs'

const CHUNK_CHARACTERS = 1 << 20

/**
 * Writes a file piece by piece; under another name until it is whole, so that an interrupted run
 * leaves no half file.
 */
export function writePieces(file: string, pieces: Iterable<string>): void {
  const part = `${file}.part`
  const target = openSync(part, 'w')
  let pending = ''
  for (const piece of pieces) {
    pending += piece
    if (pending.length < CHUNK_CHARACTERS) continue
    writeSync(target, pending)
    pending = ''
  }
  writeSync(target, pending)
  closeSync(target)
  renameSync(part, file)
}
