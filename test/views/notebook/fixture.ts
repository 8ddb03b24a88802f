import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Words from a trace that attack whatever shows them. */
export const HOSTILE = '</script><!--<img src=x onerror="alert(1)">\u2028\''

/**
 * Not within `dist`: every kernel under way watches that, and the next cell of one that has seen a
 * change fails ("Unexpected pending rebuildTimer", tslab 1.0.22).
 */
function newFolder(): string {
  const folder = join(ROOT, 'out', 'cells')
  mkdirSync(folder, { recursive: true })
  return mkdtempSync(join(folder, 'test-'))
}

/** A notebook of code cells, in a folder of its own from which flowdelta can be imported. */
export function writeNotebook(sources: readonly string[]): string {
  const path = join(newFolder(), 'fixture.ipynb')
  const cells = sources.map((source) => ({
    cell_type: 'code',
    metadata: {},
    source: source.split(/(?<=\n)/),
    outputs: [],
    execution_count: null,
  }))
  writeFileSync(path, JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 4 }))
  return path
}

/** A file next to nothing else, from which flowdelta can be imported; see {@link removeFolder}. */
export function writeCell(source: string): string {
  const path = join(newFolder(), 'cell.ts')
  writeFileSync(path, source)
  return path
}

/** {@link writeNotebook} for one test. */
export function notebookOf(sources: readonly string[]): string {
  const path = writeNotebook(sources)
  onTestFinished(() => removeFolder(path))
  return path
}

/** Removes the folder of a file made here. */
export function removeFolder(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true })
}
