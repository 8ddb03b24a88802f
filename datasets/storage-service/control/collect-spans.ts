import { appendFile } from 'node:fs/promises'
import type { SpanBuffer } from '../telemetry/span-buffer.ts'

/** A `collect` command over this process's spans. */
export function collectSpans(spans: SpanBuffer): (path: string) => Promise<void> {
  return async (path) => {
    const lines = spans.drain()
    if (lines.length > 0) await appendFile(path, `${lines.join('\n')}\n`)
  }
}
