import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { defineOptions } from '../../core/options.ts'
import { counted } from '../../core/words.ts'
import { MISSING_TRACES } from '../quality.ts'
import { isJsonObject, objectsIn, textOf } from '../readers/json-values.ts'
import { otlpReader } from '../readers/otlp.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { type Condition, leastDurationUs, servicesWithin } from '../selection/condition.ts'
import { tracesTaker } from './answered-traces.ts'
import { type Answer, HTTP_PARAMETERS, HttpServer, jsonOf, notThere } from './http.ts'
import { type Slice, SlicedReading } from './slices.ts'
import { requireTimes, storeKind } from './store.ts'

/** Parameters of the addresses of Tempo: `tempo://host:3200?tenant=team-a`. */
export const TEMPO_OPTIONS = defineOptions({ ...HTTP_PARAMETERS })

const SECOND_US = 1e6
/** Tempo refuses to search more than a week at once. */
const LONGEST_US = 24 * 3600 * SECOND_US
/** Traces that are asked for at the same time. */
const PARALLEL = 8
const OLDER_PATH = '/api/traces'

/** Grafana Tempo over HTTP: searches for ids by services and durations, then asks for each trace. */
export const tempoStore = storeKind({
  parameters: TEMPO_OPTIONS,
  isFile: false,
  async read({ limit, ...at }, query, sink) {
    const { fromUs, toUs } = requireTimes(query, at.name)
    const server = new HttpServer(at, {
      kind: 'tempo',
      tenantHeader: 'x-scope-orgid',
      signal: query.signal,
    })
    const reading = new SlicedReading({ limit, leastUs: SECOND_US })
    const traces = traceFetcher(server, sink)
    const q = traceQl(query.conditions)
    let share = 0
    const onBytes = (bytes: number) => query.onProgress(bytes, share)
    const ask = async ({ fromUs: start, toUs: end }: Slice) => {
      const ids = await server.get(
        '/api/search',
        {
          q,
          limit: `${limit}`,
          spss: '1',
          start: `${start / SECOND_US}`,
          end: `${end / SECOND_US}`,
        },
        (answer) => idsIn(answer, server),
      )
      await traces.fetch(ids, onBytes)
      return ids
    }
    await reading.read(daysOf(fromUs, toUs), ask, (done) => {
      share = done
      onBytes(0)
    })
    reading.report(sink, at.name)
    traces.report()
  },
})

/** Stretches of at most a day, of whole seconds. */
function daysOf(fromUs: number, toUs: number): Slice[] {
  const [from, to] = [
    Math.floor(fromUs / SECOND_US) * SECOND_US,
    Math.ceil(toUs / SECOND_US) * SECOND_US,
  ]
  const days = Math.ceil((to - from) / LONGEST_US)
  return Array.from({ length: days }, (_, day) => ({
    fromUs: from + day * LONGEST_US,
    toUs: Math.min(to, from + (day + 1) * LONGEST_US),
  }))
}

function idsIn(answer: Answer, server: HttpServer): ReadonlySet<string> {
  if (answer === null) throw notThere(server, 'Tempo', 'search')
  const { traces } = jsonOf(answer)
  if (traces !== undefined && traces !== null && !Array.isArray(traces)) {
    throw new FlowdeltaError('answered a search without a list of traces')
  }
  // Searches leave out leading zeros.
  return new Set(objectsIn(traces).map(({ traceID }) => textOf(traceID).padStart(32, '0')))
}

/** Asks for traces by id. */
function traceFetcher(server: HttpServer, sink: ReadSink) {
  const takeTraces = tracesTaker(sink, server.name)
  let path = '/api/v2/traces'
  /** Traces that are missing, or parts of them, by why. */
  const missing = new Map<string, Set<string>>()
  const miss = (id: string, why: string) => {
    getOrInsert(missing, why, () => new Set()).add(id)
  }
  const asked = new Set<string>()
  /** Older servers know the first version only. */
  const ask = async (id: string): Promise<Answer> => {
    const whole = (answer: Answer) => {
      if (answer !== null) jsonOf(answer)
      return answer
    }
    const own = path
    const answer = await server.get(`${own}/${id}`, {}, whole)
    if (answer !== null || own === OLDER_PATH) return answer
    const older = await server.get(`${OLDER_PATH}/${id}`, {}, whole)
    if (older !== null) path = OLDER_PATH
    return older
  }
  const take = async (id: string, answer: Answer) => {
    if (answer === null) return miss(id, 'listed by search, but not found by id')
    const { status, trace, message } = jsonOf(answer)
    if (textOf(status) === 'PARTIAL') {
      miss(id, `handed over in part (${textOf(message) || 'too large'})`)
    }
    if (trace !== undefined && !isJsonObject(trace)) return miss(id, 'handed over empty')
    await takeTraces(answer, otlpReader)
  }
  return {
    /** Asks for those of some traces that were not asked for yet, and adds them in their order. */
    async fetch(ids: ReadonlySet<string>, onBytes: (bytes: number) => void): Promise<void> {
      const wanted = [...ids].filter((id) => !asked.has(id)).sort()
      for (const id of wanted) asked.add(id)
      for (let from = 0; from < wanted.length; from += PARALLEL) {
        const some = wanted.slice(from, from + PARALLEL)
        const answers = await Promise.all(some.map(ask))
        for (const [i, answer] of answers.entries()) {
          onBytes(answer?.bytes.length ?? 0)
          await take(some[i] as string, answer)
        }
      }
    },
    report(): void {
      for (const [why, { size }] of missing) {
        const message = `${why}: ${counted(size, 'trace')}`
        sink.quality.note(MISSING_TRACES, { file: server.name }, message)
      }
    },
  }
}

/** Writes the conditions that a search can hold without losing a request for which they hold. */
function traceQl(conditions: readonly Condition[]): string {
  const leastUs = leastDurationUs(conditions)
  const terms = servicesWithin(conditions).map((services) =>
    services.map((name) => `resource.service.name = ${JSON.stringify(name)}`).join(' || '),
  )
  if (leastUs > 0) terms.push(`traceDuration >= ${Math.floor(leastUs * 1e3)}ns`)
  return terms.length === 0 ? '{ }' : terms.map((term) => `{ ${term} }`).join(' && ')
}
