import { appendFile } from 'node:fs/promises'
import type { SpanBuffer } from '../telemetry/span-buffer.ts'
import type { Period } from '../volumes/period.ts'

/** The spans of one period, and the file to append them to. */
export interface Collection {
  readonly period: Period
  readonly path: string
}

/** A `collect` command over this process's spans. */
export function collectSpans(spans: SpanBuffer): (collection: Collection) => Promise<void> {
  return async ({ period, path }) => {
    const lines = spans.drain(period)
    if (lines.length > 0) await appendFile(path, `${lines.join('\n')}\n`)
  }
}
