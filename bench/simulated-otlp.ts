// Two periods of OTLP lines of the thesis's size of request: 30 nodes, so 15 spans.
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writePieces } from '../datasets/simulated/write-pieces.ts'
import { randomSource } from '../src/stats/random.ts'

export const SPANS = 15
const [KINDS, SERVICES] = [40, 12]
const START_NS = 1_760_000_000_000_000_000n

interface Step {
  readonly parent: number
  readonly service: number
  readonly operation: string
  readonly workUs: number
}

/** A tree of calls for each kind of request, the same in both periods. */
function kindsOfRequest(): Step[][] {
  const random = randomSource(1).next
  return Array.from({ length: KINDS }, (_, kind) =>
    Array.from({ length: SPANS }, (_, span) => ({
      parent: span === 0 ? -1 : Math.max(0, span - 1 - Math.floor(3 * random())),
      service: span === 0 ? 0 : Math.floor(SERVICES * random()),
      operation: span === 0 ? `GET /kind/${kind}` : `operation-${Math.floor(30 * random())}`,
      workUs: 200 + 2000 * random(),
    })),
  )
}

/** Each request in a line, its spans by service, as a collector that groups by trace writes them. */
function* lines(period: 0 | 1, requests: number): Generator<string> {
  const kinds = kindsOfRequest()
  const random = randomSource(2 + period).next
  const hex = (digits: number) =>
    Array.from({ length: digits / 4 }, () =>
      Math.floor(65536 * random())
        .toString(16)
        .padStart(4, '0'),
    ).join('')
  for (let request = 0; request < requests; request++) {
    const steps = kinds[Math.floor(KINDS * random())] as Step[]
    const traceId = hex(32)
    const ids = steps.map(() => hex(16))
    const works = steps.map(({ workUs, operation }) => {
      const slower = period === 1 && operation === 'operation-7' ? 1.5 : 1
      return workUs * slower * (0.7 + 0.6 * random())
    })
    const starts: number[] = []
    const ends: number[] = []
    // Depth first by position: a call starts once its caller's own work and earlier calls are over.
    const run = (span: number, from: number): number => {
      starts[span] = from
      let at = from + (works[span] as number) / 2
      for (let child = span + 1; child < SPANS; child++) {
        if (steps[child]?.parent === span) at = run(child, at + 20) + 20
      }
      ends[span] = at + (works[span] as number) / 2
      return ends[span] as number
    }
    run(0, 1e4 * request)
    const nanos = (us: number) => String(START_NS + BigInt(Math.round(us * 1e3)))
    const byService = new Map<number, string[]>()
    steps.forEach(({ parent, service, operation }, span) => {
      const parentId = parent < 0 ? '' : ids[parent]
      const text =
        `{"traceId":"${traceId}","spanId":"${ids[span]}","parentSpanId":"${parentId}","name":"${operation}","kind":2,` +
        `"startTimeUnixNano":"${nanos(starts[span] as number)}","endTimeUnixNano":"${nanos(ends[span] as number)}",` +
        `"attributes":[{"key":"http.response.status_code","value":{"intValue":"200"}}],"status":{}}`
      byService.set(service, [...(byService.get(service) ?? []), text])
    })
    const resources = Array.from(
      byService,
      ([service, spans]) =>
        `{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"service-${service}"}},` +
        `{"key":"host.name","value":{"stringValue":"host-${service}"}}]},"scopeSpans":[{"scope":{"name":"bench"},"spans":[${spans.join(',')}]}]}`,
    )
    yield `{"resourceSpans":[${resources.join(',')}]}\n`
  }
}

/** The files of both periods, made where they are not there yet. */
export function otlpFiles(requests: number): string[] {
  const folder = join(tmpdir(), `flowdelta-bench-otlp-${requests}-v1`)
  mkdirSync(folder, { recursive: true })
  return (['before', 'after'] as const).map((name, period) => {
    const file = join(folder, `${name}.jsonl`)
    if (!existsSync(file)) writePieces(file, lines(period as 0 | 1, requests))
    return file
  })
}
