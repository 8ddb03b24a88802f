import { group } from 'd3-array'
import { FlowdeltaError, TraceFormatError } from '../../core/errors.ts'
import { QualityLog } from '../quality.ts'
import { SERVER_ERROR } from '../readers/json-values.ts'
import type { ReadSink, TraceReader } from '../readers/trace-reader.ts'
import { type Answer, notJson } from './http.ts'

/** Notes of readers that mean that an answer is broken. */
const BROKEN = new Set(['not-spans', SERVER_ERROR])

/** Collects notes about traces, and throws for a damaged answer. */
class AnswerQuality extends QualityLog {
  readonly notes: Parameters<QualityLog['note']>[] = []

  constructor() {
    super({ strict: true })
  }

  override note(...note: Parameters<QualityLog['note']>): void {
    const [code, , message] = note
    if (BROKEN.has(code)) throw new FlowdeltaError(message)
    this.notes.push(note)
  }
}

/**
 * Returns what takes traces out of the answers of a server, each span the first time that it comes. It reads a whole
 * answer and returns the ids of its traces; takes nothing and throws if it is broken.
 */
export function tracesTaker(sink: ReadSink, file: string) {
  /** Ids of each trace's spans so far, in one text, each between spaces. */
  const seen = new Map<string, string>()
  return async (answer: Answer, reader: TraceReader): Promise<ReadonlySet<string>> => {
    const ids = new Set<string>()
    if (answer === null) return ids
    const { bytes } = answer
    const { spans, quality } = sink
    const answered = new AnswerQuality()
    const records: Parameters<typeof spans.add>[] = []
    const into = {
      ...sink,
      quality: answered,
      spans: {
        clock: spans.clock,
        addLogs: (...logs: Parameters<typeof spans.addLogs>) => spans.addLogs(...logs),
        size: 0,
        add: (...record: Parameters<typeof spans.add>) => {
          ids.add(record[0].traceId)
          records.push(record)
        },
      },
    }
    if (!/^\s*[[{]/.test(new TextDecoder().decode(bytes.subarray(0, 1024)))) {
      throw new FlowdeltaError(notJson(new TextDecoder().decode(bytes)))
    }
    try {
      await reader.read(once(bytes), into, file)
    } catch (error) {
      if (!(error instanceof FlowdeltaError)) throw error
      // Advice about files does not help with a server.
      const problem = error instanceof TraceFormatError ? error.problem : error.message
      throw new FlowdeltaError(`sent an answer that cannot be used: ${problem}`)
    }
    const added = group(
      records.filter(([{ traceId, spanId }]) => !seen.get(traceId)?.includes(` ${spanId} `)),
      ([{ traceId }]) => traceId,
    )
    // Notes about a trace that came before are known, unless it has new spans.
    for (const note of answered.notes) {
      const { trace = '' } = note[1]
      if (added.has(trace) || !seen.has(trace)) quality.note(...note)
    }
    for (const [trace, own] of added) {
      for (const record of own) spans.add(...record)
      const known = seen.get(trace) ?? ' '
      seen.set(trace, known + own.map(([{ spanId }]) => `${spanId} `).join(''))
    }
    return ids
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
