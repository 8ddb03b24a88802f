// npm run bench:otlp [-- REQUESTS a period, default 211000]: OTLP lines of two periods to findings, beside
// JSON.parse of the same lines on one core. The size is that of the thesis: 30 nodes, so 15 spans, a request.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writePieces } from '../datasets/simulated/write-pieces.ts'
import { randomSource } from '../src/stats/random.ts'
import { bundle } from './bundle.ts'

const [argument = '211000'] = process.argv.slice(2)
const REQUESTS = Number(argument)
const [KINDS, SPANS, SERVICES] = [40, 15, 12]
/** Time over that of JSON.parse, what is beside it at the thesis's size, and memory. */
const TARGET = { ratio: 0.7, seconds: 5, MB: 2000 }
const START_NS = 1_760_000_000_000_000_000n
const say = (line = '') => process.stdout.write(`${line}\n`)

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

const folder = join(tmpdir(), `flowdelta-bench-otlp-${REQUESTS}-v1`)
mkdirSync(folder, { recursive: true })
const files = (['before', 'after'] as const).map((name, period) => {
  const file = join(folder, `${name}.jsonl`)
  if (!existsSync(file)) writePieces(file, lines(period as 0 | 1, REQUESTS))
  return file
})
const MB = files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6
say(
  `${REQUESTS} requests a period of ${SPANS} spans (${2 * SPANS} nodes), ${MB.toFixed(0)} MB of OTLP lines`,
)
await bundle(['compare-files.ts', 'parse-lines.ts'], ([compare, parse]) => {
  const run = <T>(program: string | undefined) =>
    JSON.parse(
      execFileSync(process.execPath, [program as string, ...files], { encoding: 'utf8' }),
    ) as T
  const { seconds } = run<{ seconds: number }>(parse)
  const { stages, total, peakMB } = run<{
    stages: Record<string, number>
    total: number
    peakMB: number
  }>(compare)
  for (const [stage, ms] of Object.entries(stages))
    say(`${stage.padEnd(44)}${ms.toFixed(0).padStart(7)} ms`)
  const most = TARGET.ratio * seconds + TARGET.seconds
  say(
    `in all: ${(total / 1e3).toFixed(1)} s, ${(total / 1e3 / seconds).toFixed(2)} times JSON.parse of the same lines ` +
      `(${seconds.toFixed(1)} s); target at 211,000 requests ${TARGET.ratio} times and ${TARGET.seconds} s: ${most.toFixed(1)} s`,
  )
  say(`peak memory: ${peakMB.toFixed(0)} MB (target ${TARGET.MB} MB)`)
})
