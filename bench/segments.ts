// npm run bench:segments [-- TRACES, default 200000]: how long it takes to find in which requests things changed.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compare } from '../src/comparison/comparison.ts'
import { randomSource } from '../src/stats/random.ts'
import { QualityLog } from '../src/traces/quality.ts'
import type { SpanTraces } from '../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../src/traces/span-traces-builder.ts'

const TARGET = { seconds: 10, MB: 1500 }
const TRACES = 200_000
/** Attributes of each root; every other span has a few. */
const ATTRIBUTES = 30
const START_US = 1_700_000_000_000_000

interface SegmentsRun {
  /** By stage; those of all threads say more on a busy machine. */
  readonly stages: Record<string, { readonly seconds: number; readonly coreSeconds: number }>
  readonly peakMB: number
  readonly named: readonly string[]
}

const say = (line = '') => process.stdout.write(`${line}\n`)

/** A shop whose database is slow for one tenant's uncached requests after, and whose checkouts fail on three pods. */
function shopPeriod(period: 0 | 1, traces: number): SpanTraces {
  const random = randomSource(period + 1)
  const builder = new SpanTracesBuilder(new QualityLog())
  const pick = <T>(values: readonly T[]) => values[random.integer(values.length)] as T
  const pods = Array.from({ length: 12 }, (_, i) => `pod-${i}`)
  const operations = ['GET /cart', 'GET /orders', 'POST /orders', 'GET /search', 'POST /checkout']
  const noise = Array.from({ length: ATTRIBUTES - 12 }, (_, i) => ({
    name: `label.${i}`,
    values: Array.from({ length: 2 + i ** 2 }, (_, n) => `${i}-${n}`),
  }))
  for (let i = 0; i < traces; i++) {
    const startUs = START_US + (period * traces + i) * 10_000
    const operation = pick(operations)
    const tier = random.next() < 0.05 ? 'enterprise' : random.next() < 0.3 ? 'pro' : 'free'
    const isCached = random.next() < 0.7
    const pod = pick(pods)
    const isSlow = period === 1 && tier === 'enterprise' && !isCached
    const isFailing =
      random.next() < 0.01 ||
      (period === 1 &&
        operation === 'POST /checkout' &&
        'pod-1 pod-2 pod-3'.split(' ').includes(pod))
    const takes = (medianUs: number) => Math.round(medianUs * Math.exp(0.5 * random.normal()))
    const us = { store: takes(20_000) * (isSlow ? 6 : 1), auth: takes(2_000), stock: takes(5_000) }
    const shopUs = us.store + us.auth + us.stock + takes(3_000)
    const hasStock = operation !== 'GET /search'
    const span = (
      spanId: string,
      at: { service: string; operation: string; host: string; parent?: string },
      [fromUs, durationUs]: readonly [number, number],
      attributes: readonly (readonly [string, string | number | boolean])[],
    ) =>
      builder.add(
        {
          traceId: `${period}-${i}`,
          spanId,
          parentId: at.parent ?? null,
          service: at.service,
          operation: at.operation,
          host: at.host,
          kind: 'server',
          status: isFailing && spanId === 'r' ? 'error' : 'ok',
          startUs: startUs + fromUs,
          durationUs,
          followsFrom: false,
          attributes: attributes.map(
            ([key, value]) => [key, value] as [string, string | number | boolean],
          ),
        },
        {},
      )
    span(
      'r',
      { service: 'shop', operation, host: pod },
      [0, shopUs],
      [
        ...([
          ['tenant.tier', tier],
          ['plan', `plan-${tier}`],
          ['cache.hit', isCached],
        ] as const),
        ...([
          ['user.id', `u${random.integer(1e9)}`],
          ['tenant', `t${random.integer(400)}`],
        ] as const),
        ...([
          ['body.size', takes(3_000)],
          ['items', random.integer(40)],
          ['score', random.next()],
        ] as const),
        ...([
          ['region', pick(['ap', 'eu', 'us', 'sa'])],
          ['flag', random.next() < 0.2],
        ] as const),
        ...([
          ['coupon', pick(['TEN', 'FREE', 'GIFT', ''])],
          ['session', `s${random.integer(1e9)}`],
        ] as const),
        ...noise.map(({ name, values }) => [name, pick(values)] as const),
      ],
    )
    const called = (id: string, service: string, call: string, fromUs: number, takesUs: number) =>
      span(
        id,
        { service, operation: call, host: `${service}-${random.integer(4)}`, parent: 'r' },
        [fromUs, takesUs],
        [
          ['shard', random.integer(8)],
          ['rows', random.integer(1_000)],
          ['version', pick(['1.4', '1.5'])],
          ['query', pick(['select', 'insert', 'update'])],
        ],
      )
    called('a', 'auth', 'check', 100, us.auth)
    if (hasStock) called('b', 'stock', 'lookup', 200 + us.auth, us.stock)
    called('c', 'store', 'query', 300 + us.auth + us.stock, us.store)
  }
  return builder.finish(period === 0 ? 'before' : 'after')
}

/** Everything in a process of its own, so that memory is that of one run. */
function measure(traces: number): SegmentsRun {
  const stages: Record<string, { seconds: number; coreSeconds: number }> = {}
  const timed = <T>(name: string, work: () => T): T => {
    const [start, used] = [performance.now(), process.cpuUsage()]
    const result = work()
    const { user, system } = process.cpuUsage(used)
    stages[name] = {
      seconds: (performance.now() - start) / 1e3,
      coreSeconds: (user + system) / 1e6,
    }
    return result
  }
  const [before, after] = timed('make traces', () => [
    shopPeriod(0, traces / 2),
    shopPeriod(1, traces / 2),
  ])
  const comparison = compare(before, after, { sample: 'all' })
  timed('flows', () => comparison.flows)
  timed('steps', () => comparison.steps)
  const { segments } = timed('segments', () => comparison.segments)
  return {
    stages,
    peakMB: process.resourceUsage().maxRSS / 1024,
    named: segments.map(({ measure: of, text }) => `${of}: ${text}`),
  }
}

if (process.argv[2] === '--child') {
  say(JSON.stringify(measure(Number(process.argv[3]))))
} else {
  const traces = Number(process.argv[2] ?? TRACES)
  const args = ['--import', 'tsx', fileURLToPath(import.meta.url), '--child', String(traces)]
  const { stages, peakMB, named } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  ) as SegmentsRun
  say(
    `${traces} simulated traces, ${ATTRIBUTES} attributes of each root; node ${process.version}\n`,
  )
  for (const [stage, { seconds, coreSeconds }] of Object.entries(stages)) {
    say(
      `${stage.padEnd(20)}${seconds.toFixed(1).padStart(7)} s${coreSeconds.toFixed(1).padStart(9)} s of cores`,
    )
  }
  say(
    `\npeak memory: ${peakMB.toFixed(0)} MB, traces included (target ${TARGET.MB} MB)\n` +
      `segments (target ${TARGET.seconds} s):\n  ${named.join('\n  ')}`,
  )
  const { seconds, coreSeconds } = stages['segments'] as SegmentsRun['stages'][string]
  if (Math.min(seconds, coreSeconds) > TARGET.seconds || peakMB > TARGET.MB) {
    process.stderr.write('The target is missed.\n')
    process.exitCode = 1
  }
}
