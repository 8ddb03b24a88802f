import { appendFile } from 'node:fs/promises'
import { drainLog } from '../telemetry/log.ts'
import type { SpanBuffer } from '../telemetry/span-buffer.ts'
import type { Period } from '../volumes/period.ts'

/** The spans of one period, and the file to append them to. */
export interface Collection {
  readonly period: Period
  readonly path: string
}

/** The file of the log beside one of spans. */
export function logFile(path: string): string {
  return path.replace(/(\.jsonl)/, '-logs$1')
}

/** A `collect` command over this process's spans, and its log. */
export function collectSpans(spans: SpanBuffer): (collection: Collection) => Promise<void> {
  return async ({ period, path }) => {
    const lines = spans.drain(period)
    if (lines.length > 0) await appendFile(path, `${lines.join('\n')}\n`)
    const logged = drainLog(period)
    if (logged.length > 0) await appendFile(logFile(path), `${logged.join('\n')}\n`)
  }
}
