import { Dictionary } from '../traces/dictionary.ts'
import type { SpanTraces } from '../traces/span-traces.ts'

/**
 * Numbers what is called, `service operation`, over all periods alike; hosts do not count. Rules
 * about the order of calls are kept by these numbers.
 */
export class CallNames {
  readonly #names = new Dictionary()

  get size(): number {
    return this.#names.size
  }

  /** The number of each span's call in one period. */
  ofSpans({ spans, services, operations }: SpanTraces): Uint32Array {
    const known = new Map<number, number>()
    return Uint32Array.from(spans.service, (service, span) => {
      const operation = spans.operation[span] as number
      const pair = service * operations.size + operation
      let name = known.get(pair)
      if (name === undefined) {
        name = this.#names.code(`${services.value(service)} ${operations.value(operation)}`)
        known.set(pair, name)
      }
      return name
    })
  }
}
