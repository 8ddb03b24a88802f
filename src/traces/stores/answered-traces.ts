import { FlowdeltaError } from '../../core/errors.ts'
import { QualityLog } from '../quality.ts'
import type { ReadSink, TraceReader } from '../readers/trace-reader.ts'
import { type Answer, notJson } from './http.ts'

/** Notes of readers that mean that an answer is not what it should be. */
const BROKEN = new Set(['not-spans', 'jaeger-error'])

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

/** Takes whole traces out of the answers of a server, each the first time that it comes. */
export class AnsweredTraces {
  readonly #sink: ReadSink
  readonly #file: string
  readonly #seen = new Set<string>()

  constructor(sink: ReadSink, file: string) {
    this.#sink = sink
    this.#file = file
  }

  /**
   * Reads an answer, of which nothing is taken unless it is whole.
   *
   * @returns ids of its traces
   * @throws FlowdeltaError for one that is cut, or holds something else than traces
   */
  async take(answer: Answer, reader: TraceReader): Promise<ReadonlySet<string>> {
    const ids = new Set<string>()
    if (answer === null) return ids
    const { bytes } = answer
    const { spans, quality } = this.#sink
    const answered = new AnswerQuality()
    const records: Parameters<typeof spans.add>[] = []
    const into = {
      ...this.#sink,
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
      await reader.read(once(bytes), into, this.#file)
    } catch (error) {
      if (!(error instanceof FlowdeltaError)) throw error
      throw new FlowdeltaError(`sent an answer that cannot be used: ${error.message}`)
    }
    const isNew = (trace: string | undefined) => trace === undefined || !this.#seen.has(trace)
    for (const record of records) if (isNew(record[0].traceId)) spans.add(...record)
    for (const note of answered.notes) if (isNew(note[1].trace)) quality.note(...note)
    for (const id of ids) this.#seen.add(id)
    return ids
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
