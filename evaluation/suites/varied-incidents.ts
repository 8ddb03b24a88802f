import type { Finding } from '../../src/compare/findings/finding.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { fisherExact } from '../../src/stats/fisher-exact.ts'
import { mannWhitney } from '../../src/stats/mann-whitney.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import type { AttributeValue } from '../../src/traces/attributes.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../../src/traces/span-traces-builder.ts'
import { type Half, halfOf } from './shared-data.ts'

/*
 * Incidents of many kinds and volumes, made at random: a service fails, is slow, is called again,
 * misses its cache or waits for a lock, for some requests only. Beside it, decoys in both periods,
 * and a new version everywhere after.
 *
 *   gateway GET /a    |------------------------------------|
 *   orders list          |------------------------------|
 *   cache get              |---|
 *   db query                     |---------|                     (where the cache has nothing)
 *   pricing quote                            |--------|
 */

const PERIOD_US = 600e6
const EPOCH_US = 1_790_000_000_000_000
/** Requests that a fault touches, below which nothing can be expected of findings. */
const FEWEST = 8
/** Findings that may name the cause; none of them may name a decoy. */
const FIRST = 3
/** Routes times the values that a fault can ask for: what a search has to correct for. */
const QUESTIONS = 4 * 28

export const INCIDENT_KINDS = [
  'errors',
  'rollout',
  'latency',
  'retries',
  'cache',
  'lock',
  'dependency',
  'quiet',
] as const
export type IncidentKind = (typeof INCIDENT_KINDS)[number]
/** Requests of each period, and how many seeds of each kind either half has. */
const VOLUMES: Readonly<Record<number, number>> = { 30: 10, 300: 10, 3000: 10, 30000: 1 }

const ROUTES = ['GET /orders', 'POST /orders', 'GET /offers', 'GET /search']
const SERVICES = ['orders', 'offers', 'search']
const FLEET = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `pod-${name}`)
const DECOYS = [
  'runtime.event',
  'client.type',
  'user.id',
  'request.id',
  'release.name',
  'sales.plan',
]

/** What the fault asks of a request: all values of one attribute that it holds for. */
interface Condition {
  readonly key: string
  readonly values: readonly AttributeValue[]
  /** Of sizes, the least. */
  readonly from?: number
}

/** A fault, and who has it. */
export interface Planted {
  readonly kind: IncidentKind
  readonly route: string
  /** Services of which one must be named: who fails, and who calls it where calls change. */
  readonly services: readonly string[]
  readonly condition: Condition | null
  /** How often it happens where the condition holds, or by how many times calls are slower. */
  readonly rate: number
}

/** One incident, its two periods and how many requests after the fault touches. */
export interface Incident {
  readonly planted: Planted
  readonly periods: readonly [before: SpanTraces, after: SpanTraces]
  readonly hits: number
  /** The p value of a test that knows route, condition and symptom; `null` without a fault. */
  readonly informedP: number | null
}

type Facts = Map<string, AttributeValue>

/** Draws what requests carry: tenants and regions are uneven, shards even, sizes skewed. */
function drawFacts(random: RandomSource): Facts {
  const uneven = (values: readonly AttributeValue[]) =>
    values[Math.floor(values.length * random.next() ** 1.7)] as AttributeValue
  const tenant = uneven(['acme', 'birch', 'cobalt', 'delta', 'elm', 'fir', 'gale', 'hops'])
  const isLarge = tenant === 'acme' || tenant === 'birch'
  return new Map<string, AttributeValue>([
    ['tenant.id', tenant],
    ['cloud.region', uneven(['eu-west', 'us-east', 'ap-south'])],
    ['build.id', random.next() < 0.75 ? '8841' : '8850'],
    ['db.shard', random.integer(8)],
    ['payload.bytes', Math.round(random.logNormal(Math.log(4000), 1))],
    ['feature.fast_path', random.next() < 0.25],
    ['messaging.partition', random.integer(12)],
    ['k8s.pod.name', FLEET[random.integer(FLEET.length)] as string],
    ['sales.plan', isLarge || random.next() < 0.2 ? 'gold' : 'basic'],
  ])
}

const LARGE_BYTES = 9000
const OF_CALLEES = ['db.shard', 'messaging.partition']

function drawCondition(random: RandomSource, kind: IncidentKind): Condition | null {
  const pick = <T>(of: readonly T[]): T => of[random.integer(of.length)] as T
  if (kind === 'dependency' || kind === 'quiet') return null
  if (kind === 'rollout') {
    return { key: 'k8s.pod.name', values: FLEET.slice(0, 1 + random.integer(3)) }
  }
  const tenant = { key: 'tenant.id', values: [pick(['acme', 'birch', 'cobalt'])] }
  if (kind === 'cache') return tenant
  return pick<Condition>([
    tenant,
    { key: 'cloud.region', values: [pick(['us-east', 'ap-south'])] },
    { key: 'build.id', values: ['8850'] },
    { key: 'db.shard', values: [random.integer(8)] },
    { key: 'payload.bytes', values: [], from: LARGE_BYTES },
    { key: 'feature.fast_path', values: [true] },
    { key: 'messaging.partition', values: [random.integer(12)] },
  ])
}

function plant(random: RandomSource, kind: IncidentKind): Planted {
  const route = ROUTES[random.integer(ROUTES.length)] as string
  const service = SERVICES[ROUTES.indexOf(route) % SERVICES.length] as string
  const condition = drawCondition(random, kind)
  const between = (low: number, high: number) => low + (high - low) * random.next()
  const [rate, ...services] = {
    errors: [between(0.1, 0.6), service],
    // Of all requests of the route, one to seven in a hundred.
    rollout: [(between(0.01, 0.07) * FLEET.length) / (condition?.values.length ?? 1), service],
    latency: [between(2.5, 10), service],
    retries: [between(0.3, 1), 'pricing', service],
    cache: [1, 'cache', service, 'db'],
    lock: [0.4, service, 'db'],
    dependency: [0.03, 'pricing'],
    quiet: [0],
  }[kind] as [number, ...string[]]
  return { kind, route, services, condition, rate }
}

function holds({ key, values, from }: Condition, facts: Facts): boolean {
  const value = facts.get(key) as AttributeValue
  return from === undefined ? values.includes(value) : (value as number) >= from
}

interface Call {
  readonly service: string
  readonly operation: string
  readonly ownUs: number
  readonly fails?: boolean
  readonly attributes?: [string, AttributeValue][]
  readonly calls?: readonly Call[]
}

/** Makes one incident; both periods have `requests` requests. */
export function makeIncident(kind: IncidentKind, requests: number, seed: number): Incident {
  const random = randomSource(INCIDENT_KINDS.length * seed + INCIDENT_KINDS.indexOf(kind))
  const planted = plant(random, kind)
  let hits = 0
  const symptoms: [before: number[], after: number[]] = [[], []]
  const periods = [false, true].map((isAfter) => {
    const builder = new SpanTracesBuilder(new QualityLog())
    const fromUs = EPOCH_US + (isAfter ? PERIOD_US : 0)
    for (let i = 0; i < requests; i++) {
      const facts = drawFacts(random)
      const route = ROUTES[random.integer(ROUTES.length)] as string
      const { condition, rate } = planted
      const isHere = kind === 'dependency' || route === planted.route
      const isHit = isHere && (condition === null || holds(condition, facts))
      const isStruck = isAfter && isHit && (kind === 'latency' || random.next() < rate)
      if (isStruck && kind !== 'quiet') hits++
      const root = makeCalls(random, { planted, route, facts, isStruck })
      if (isHit) symptoms[isAfter ? 1 : 0].push(symptomOf(kind, root))
      const isPaused = random.next() < 0.003
      const attributes: [string, AttributeValue][] = [
        ...[...facts].filter(([key]) => !OF_CALLEES.includes(key)),
        ['client.type', random.next() < (isAfter ? 0.5 : 0.35) ? 'mobile' : 'desktop'],
        ['user.id', `u${random.integer(5000)}`],
        ['request.id', `r${isAfter}${i}`],
        ['release.name', isAfter ? '2026-11' : '2026-10'],
        ...(isPaused ? [['runtime.event', 'gc_pause'] as [string, AttributeValue]] : []),
      ]
      const whole = { ...root, attributes, ownUs: root.ownUs + (isPaused ? 4e5 : 0) }
      const startUs = fromUs + Math.round(random.next() * PERIOD_US)
      addCall(builder, whole, { traceId: `${isAfter}-${i}`, spanId: '1', parentId: null, startUs })
    }
    return builder.finish(isAfter ? 'after' : 'before') as SpanTraces
  }) as [SpanTraces, SpanTraces]
  return {
    planted,
    periods,
    hits,
    informedP: kind === 'quiet' ? null : testInformed(kind, symptoms),
  }
}

/** Times halfway, in logarithms, between usual calls and those that the fault slows. */
const SLOW_US = { lock: 20e3, dependency: 25e3 }

/** Returns what the fault changes of a request: own µs of latency, else whether it is seen. */
function symptomOf(kind: IncidentKind, { calls: [work] = [] }: Call): number {
  const { fails = false, ownUs = 0, calls = [] } = work ?? {}
  if (kind === 'latency') return ownUs
  if (kind === 'lock') return Number(ownUs > SLOW_US.lock)
  if (kind === 'retries') return Number(calls.some((call) => call.fails))
  if (kind === 'cache') return Number(calls.some(({ service }) => service === 'db'))
  if (kind !== 'dependency') return Number(fails)
  return Number(calls.some((call) => call.service === 'pricing' && call.ownUs > SLOW_US.dependency))
}

function testInformed(kind: IncidentKind, [before, after]: [number[], number[]]): number {
  if (before.length === 0 || after.length === 0) return 1
  if (kind === 'latency') return mannWhitney(before, after, { alternative: 'slower' }).p
  const seen = (of: readonly number[]) => of.reduce((sum, one) => sum + one, 0)
  return fisherExact(seen(before), before.length, seen(after), after.length).pMore
}

function makeCalls(
  random: RandomSource,
  {
    planted: { kind, rate },
    route,
    facts,
    isStruck,
  }: { planted: Planted; route: string; facts: Facts; isStruck: boolean },
): Call {
  const took = (usualUs: number) => usualUs * random.logNormal(0, 0.4)
  const is = (wanted: IncidentKind) => isStruck && kind === wanted
  const service = SERVICES[ROUTES.indexOf(route) % SERVICES.length] as string
  const of = OF_CALLEES.map((key): [string, AttributeValue] => [key, facts.get(key) as number])
  const fails = is('errors') || is('rollout') || random.next() < 0.002
  const isHit = random.next() < 0.9 && !is('cache')
  const quote = { service: 'pricing', operation: 'quote' }
  const lockUs = is('lock') ? took(60e3) : 0
  const calls: Call[] = [
    { service: 'cache', operation: 'get', ownUs: took(800) },
    ...(isHit ? [] : [{ service: 'db', operation: 'query', ownUs: took(9000) }]),
    ...(is('retries') ? [{ ...quote, ownUs: took(6000), fails: true }] : []),
    { ...quote, ownUs: took(5000) * (is('dependency') ? 25 : 1) },
  ]
  const work: Call = {
    service,
    operation: route.startsWith('POST') ? 'save' : 'list',
    ownUs: took(6000) * (is('latency') ? rate : 1) + lockUs,
    fails,
    attributes: of,
    calls: fails ? calls.slice(0, 1) : calls,
  }
  return { service: 'gateway', operation: route, ownUs: took(3000), fails, calls: [work] }
}

/** Adds a call and those that it makes, one after the other; returns how long it takes. */
function addCall(
  builder: SpanTracesBuilder,
  { service, operation, ownUs, fails = false, attributes = [], calls = [] }: Call,
  at: { traceId: string; spanId: string; parentId: string | null; startUs: number },
): number {
  let durationUs = Math.round(ownUs / 2)
  calls.forEach((call, i) => {
    const { traceId, spanId } = at
    const startUs = at.startUs + durationUs + 100
    durationUs += 200
    durationUs += addCall(builder, call, {
      traceId,
      spanId: `${spanId}.${i}`,
      parentId: spanId,
      startUs,
    })
  })
  durationUs += Math.round(ownUs / 2)
  const status = fails ? 'error' : 'ok'
  const rest = { followsFrom: false, probability: undefined, version: undefined, host: '' }
  const own = { service, operation, status, kind: 'server', durationUs, attributes } as const
  builder.add({ ...rest, ...own, ...at }, {})
  return durationUs
}

/** What the first findings say of one incident. */
export interface JudgedIncident {
  readonly planted: Planted
  readonly requests: number
  readonly seed: number
  readonly hits: number
  readonly informedP: number | null
  /** Place of the first finding that names service, and condition; `null` for none. */
  readonly service: number | null
  readonly condition: number | null
  readonly decoys: readonly string[]
  readonly titles: readonly string[]
}

/** Compares the periods of one incident, and says what the first findings name. */
export function judgeIncident(kind: IncidentKind, requests: number, seed: number): JudgedIncident {
  const { planted, periods, hits, informedP } = makeIncident(kind, requests, seed)
  const { findings } = compare(...periods).findings
  const placeOf = (isIt: (finding: Finding) => boolean) => {
    const at = findings.findIndex(isIt)
    return at < 0 ? null : at + 1
  }
  const { services, condition } = planted
  const isService = (one: Finding) => services.includes(one.services[0] ?? '')
  return {
    planted,
    requests,
    seed,
    hits,
    informedP,
    service: placeOf(isService),
    condition:
      condition === null
        ? placeOf(isService)
        : placeOf((one) => isService(one) && isTold(condition, `${one.title} ${one.text}`)),
    decoys: DECOYS.filter((name) =>
      findings.slice(0, FIRST).some(({ title }) => title.includes(name)),
    ),
    titles: findings.map(({ title }) => title),
  }
}

const COUNTS: Readonly<Record<string, number>> = { 'build.id': 2, 'feature.fast_path': 2 }

function isTold({ key, values }: Condition, text: string): boolean {
  if (!text.includes(key)) return false
  // Of two values, one is the other one not; of pods, those that are well may be named.
  return (
    key in COUNTS ||
    text.includes(`${key} is not`) ||
    values.every((one) => text.includes(`${one}`))
  )
}

/** Compares incidents of all kinds and volumes, and prints a row for each. */
export function runVariedSuite({ half, cases }: { half: Half; cases: boolean }): void {
  const judged = Object.entries(VOLUMES).flatMap(([requests, count]) =>
    INCIDENT_KINDS.flatMap((kind) =>
      halfOf([...Array(2 * count).keys()], half, () => '').map((seed) =>
        judgeIncident(kind, Number(requests), seed),
      ),
    ),
  )
  process.stdout.write(variedText(judged, cases))
}

/** Returns a table of what was named: of incidents that touch at least eight requests. */
export function variedText(judged: readonly JudgedIncident[], cases: boolean): string {
  const rows = Object.keys(VOLUMES).flatMap((requests) =>
    INCIDENT_KINDS.flatMap((kind) => {
      const all = judged.filter(
        (one) => one.requests === Number(requests) && one.planted.kind === kind,
      )
      if (all.length === 0) return []
      const seen = kind === 'quiet' ? all : all.filter(({ hits }) => hits >= FEWEST)
      const within = (part: 'service' | 'condition', most: number) =>
        seen.filter((one) => (one[part] ?? Number.POSITIVE_INFINITY) <= most).length
      const visible = (questions: number) =>
        seen.filter(({ informedP }) => (informedP ?? 1) < 0.05 / questions).length
      const cells =
        kind === 'quiet'
          ? ['', `${all.filter(({ titles }) => titles.length > 0).length} alarms`, '']
          : [
              `${visible(1)} / ${visible(QUESTIONS)}`,
              `${within('service', 1)} / ${within('service', FIRST)}`,
              `${within('condition', 1)} / ${within('condition', FIRST)}`,
            ]
      const decoys = all.filter((one) => one.decoys.length > 0).length
      return [[requests, kind, `${seen.length} of ${all.length}`, ...cells, `${decoys}`]]
    }),
  )
  const head = [
    'requests',
    'kind',
    'touch 8',
    'could be seen',
    'service 1 / 3',
    'condition 1 / 3',
    'decoys',
  ]
  const lines = [head, ...rows].map((row) =>
    row.map((cell, i) => cell.padEnd([10, 12, 11, 15, 15, 17, 7][i] as number)).join(''),
  )
  const told = judged.map(({ planted: { kind, route, services, condition, rate }, ...one }) => {
    const where =
      condition === null ? '' : ` where ${condition.key} = ${condition.values.join('|')}`
    const what = `${kind} ${rate.toFixed(2)} of ${route} ${services.join('|')}${where}`
    const places = `service ${one.service ?? '–'}, condition ${one.condition ?? '–'}`
    const head = `${one.requests} requests, seed ${one.seed}: ${what}, ${one.hits} touched: ${places}`
    return [head, ...one.titles.slice(0, FIRST)].join('\n      ')
  })
  return `Incidents of many kinds, made at random: is the cause in the first finding, in the first three?\nCould be seen: by a test told route, condition and symptom, at 0.05 / at 0.05 corrected for the ${QUESTIONS} pairs of route and condition\n${lines.join('\n')}\n${cases ? `${told.join('\n')}\n` : ''}`
}
