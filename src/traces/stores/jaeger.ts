import { FlowdeltaError } from '../../core/errors.ts'
import { defineOptions, oneOf, optionalText } from '../../core/options.ts'
import { otlpReader } from '../readers/otlp.ts'
import { SPAN_FORMATS } from '../readers/span-formats.ts'
import { spansReader } from '../readers/span-records.ts'
import { leastDurationUs, rootService } from '../selection/condition.ts'
import { tracesTaker } from './answered-traces.ts'
import { type Answer, HTTP_PARAMETERS, HttpServer, jsonOf, notThere } from './http.ts'
import { type Slice, SlicedReading } from './slices.ts'
import { requireTimes, storeKind } from './store.ts'

/** Parameters of the addresses of Jaeger: `jaeger://host:16686?service=frontend`. */
export const JAEGER_OPTIONS = defineOptions({
  service: optionalText(
    'Service with spans in the requested time, in each trace; null for all services',
  ),
  api: oneOf(['auto', 'v3', 'v1'], {
    default: 'auto',
    sentence: 'Version of the HTTP API; auto takes v3 where there is one',
  }),
  ...HTTP_PARAMETERS,
})

/** A version of the API: where its answers are, and how they are read. */
const APIS = {
  v3: {
    path: '/api/v3',
    services: 'services',
    reader: otlpReader,
    /** Whether a 404 means that nothing was found. */
    isEmpty404: true,
    search: ({ fromUs, toUs, service, limit, leastUs }: Search) =>
      // Names differ among versions; each takes those that it knows.
      Object.entries({
        service_name: service,
        start_time_min: rfc3339(fromUs),
        start_time_max: rfc3339(toUs),
        num_traces: `${limit}`,
        search_depth: `${limit}`,
        raw_traces: 'true',
        ...(leastUs > 0 && { duration_min: `${(leastUs / 1e6).toFixed(9)}s` }),
      }).flatMap(([name, value]) => [
        [`query.${name}`, value],
        [`query.${name.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase())}`, value],
      ]),
  },
  v1: {
    path: '/api',
    services: 'data',
    reader: spansReader({
      formats: SPAN_FORMATS.filter(({ name }) => name === 'jaeger'),
      isOnly: true,
    }),
    isEmpty404: false,
    search: ({ fromUs, toUs, service, limit, leastUs }: Search) => [
      ['service', service],
      ['limit', `${limit}`],
      ['start', `${Math.floor(fromUs)}`],
      ['end', `${Math.ceil(toUs)}`],
      ...(leastUs > 0 ? [['minDuration', `${leastUs}us`]] : []),
    ],
  },
} as const

/**
 * Jaeger, or another server with its HTTP API, such as VictoriaTraces (`jaeger://host:10428/select/jaeger`). Traces are
 * searched by service, for each service that no condition rules out. An answer has a limit and no cursor; see
 * `SlicedReading`.
 */
export const jaegerStore = storeKind({
  parameters: JAEGER_OPTIONS,
  isFile: false,
  async read({ service, api, limit, ...at }, query, sink) {
    const whole = requireTimes(query, at.name)
    const server = new HttpServer(at, {
      kind: 'jaeger',
      tenantHeader: 'x-tenant',
      signal: query.signal,
    })
    // A server without API v3 says so, or shows its web page.
    const newest = (answer: Answer) =>
      answer !== null && /^\s*\{/.test(new TextDecoder().decode(answer.bytes)) ? 'v3' : 'v1'
    const version = api === 'auto' ? await server.get('/api/v3/services', {}, newest) : api
    const { path, reader, search, isEmpty404 } = APIS[version]
    const wanted = service ?? rootService(query.conditions)
    // A span of another service than the root's may be shorter than the request.
    const leastUs = service === null ? leastDurationUs(query.conditions) : 0
    const services = wanted === null ? await servicesOf(server, version) : [wanted]
    const take = tracesTaker(sink, at.name)
    const reading = new SlicedReading({ limit, leastUs: 1000 })
    for (const [place, each] of services.entries()) {
      const ask = (slice: Slice) =>
        server.get(
          `${path}/traces`,
          search({ ...slice, service: each, limit, leastUs }),
          async (answer) => {
            query.onProgress(answer?.bytes.length ?? 0, place / services.length)
            if (answer === null && !isEmpty404) throw notThere(at, 'Jaeger', 'search')
            return take(answer, reader)
          },
        )
      await reading.read([whole], ask, (share) =>
        query.onProgress(0, (place + share) / services.length),
      )
    }
    reading.report(sink, at.name)
  },
})

/** Parameters of a search besides the time. */
interface Search extends Slice {
  readonly service: string
  readonly limit: number
  /** Requests took at least this many µs; 0 for all. */
  readonly leastUs: number
}

async function servicesOf(
  server: HttpServer,
  version: keyof typeof APIS,
): Promise<readonly string[]> {
  const { path, services } = APIS[version]
  return server.get(`${path}/services`, {}, (answer: Answer) => {
    if (answer === null) throw notThere(server, 'Jaeger', 'list of services')
    const listed = jsonOf(answer)[services] ?? []
    if (Array.isArray(listed)) return listed.map(String).sort()
    throw new FlowdeltaError('has no list of services')
  })
}

/** Returns a time in µs since 1970 as the API takes it. */
function rfc3339(us: number): string {
  const micros = String(us % 1e6).padStart(6, '0')
  return `${new Date(Math.floor(us / 1e6) * 1e3).toISOString().slice(0, -5)}.${micros}Z`
}
