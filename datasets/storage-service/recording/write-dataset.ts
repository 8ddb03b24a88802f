import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import type { Case } from '../cases/case.ts'
import { logFile } from '../control/collect-spans.ts'
import type { Recording } from './record-case.ts'

/** What a person needs to record a case again. */
export interface Provenance {
  readonly seed: number
  readonly requests: number
  readonly blocks: number
  readonly warmUp: number
  readonly sample: number
}

/** Writes a recording and its truth into `directory`; resolves to the size of each file. */
export async function writeDataset(
  directory: string,
  recording: Recording,
  { name, description, truth, logs = false }: Case,
  provenance: Provenance,
): Promise<ReadonlyMap<string, number>> {
  await mkdir(directory, { recursive: true })
  const truthFile = join(directory, 'truth.json')
  const document = { name, description, ...truth, recording: provenance }
  await writeFile(truthFile, `${JSON.stringify(document, null, 2)}\n`)
  const written = [truthFile]
  for (const period of ['before', 'after'] as const) {
    const path = join(directory, `${period}.jsonl.gz`)
    const files = [[recording[period], path] as const]
    if (logs) files.push([logFile(recording[period]), logFile(path)])
    for (const [from, to] of files) {
      const gzip = createGzip({ level: constants.Z_BEST_COMPRESSION })
      await pipeline(createReadStream(from), gzip, createWriteStream(to))
      written.push(to)
    }
  }
  return new Map(
    await Promise.all(written.map(async (path) => [path, (await stat(path)).size] as const)),
  )
}
