import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { type InstanceLog, LOG_CLASSES, type LogClass, logLines } from './log-lines.ts'

/**
 * Writes `good.jsonl.gz`, `bad.jsonl.gz` and `truth.json` into `directory`; resolves to the bytes
 * of each file.
 */
export async function writeLogDataset(
  directory: string,
  logs: Readonly<Record<LogClass, readonly InstanceLog[]>>,
  truth: object,
): Promise<ReadonlyMap<string, number>> {
  await mkdir(directory, { recursive: true })
  const sizes = new Map<string, number>()
  const write = async (name: string, bytes: Buffer) => {
    await writeFile(join(directory, name), bytes)
    sizes.set(name, bytes.length)
  }
  for (const logClass of LOG_CLASSES) {
    const text = logs[logClass].map(logLines).join('')
    await write(`${logClass}.jsonl.gz`, gzipSync(text, { level: constants.Z_BEST_COMPRESSION }))
  }
  await write('truth.json', Buffer.from(`${JSON.stringify(truth, null, 2)}\n`))
  return sizes
}
