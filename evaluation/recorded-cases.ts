import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { FlowdeltaError } from '../src/core/errors.ts'
import type { Truth } from './truth.ts'

/** A folder with `before.jsonl.gz`, `after.jsonl.gz` and `truth.json`. */
export interface RecordedCase {
  readonly name: string
  /** Which recording of the case this is: 1, or 2 in a folder `<case>.2`. */
  readonly recording: number
  readonly before: string
  readonly after: string
  readonly truth: Truth
}

/**
 * The recorded cases below a folder, in order of name; only those named, if any are.
 *
 * @throws FlowdeltaError when the folder has none, or not all that are named
 */
export async function findCases(data: string, names: readonly string[]): Promise<RecordedCase[]> {
  const entries = await readdir(data, { withFileTypes: true }).catch(() => {
    throw new FlowdeltaError(
      `There is no folder ${data}. Run this where the repository is, or name the folder of the ` +
        'cases with --data.',
    )
  })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(data, name))
  const found = (await Promise.all(folders.sort().map(readCase))).flatMap((one) => one ?? [])
  const known = [...new Set(found.map(({ name }) => name))]
  const missing = names.filter((name) => !known.includes(name))
  if (missing.length > 0 || found.length === 0) {
    throw new FlowdeltaError(
      `${data} has no case ${missing.join(', ') || 'at all'}. ` +
        `There are: ${known.join(', ') || 'none'}.`,
    )
  }
  return names.length === 0 ? found : found.filter(({ name }) => names.includes(name))
}

async function readCase(folder: string): Promise<RecordedCase | null> {
  const text = await readFile(join(folder, 'truth.json'), 'utf8').catch(() => null)
  if (text === null) return null
  const [name = '', recording = '1'] = basename(folder).split('.')
  return {
    name,
    recording: Number(recording),
    before: join(folder, 'before.jsonl.gz'),
    after: join(folder, 'after.jsonl.gz'),
    truth: JSON.parse(text) as Truth,
  }
}
