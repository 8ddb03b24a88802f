import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { group, range } from 'd3-array'
import { compare } from '../../src/comparison/comparison.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { otlpText } from '../../src/traces/readers/otlp-values.ts'
import { sharedData } from './shared-data.ts'

/*
 * Incidents planted into hdx-eval's quiet hour, whose noise, decoys and hundred services are not of
 * our making: an operation whose database is slow for one value of an attribute, failures where two
 * values meet, and a rollout to some of 24 pods that breaks requests with one value.
 */

const FOLDER = 'data/hdx-eval/quiet-11'
const NOTICE = `Without incidents planted into ${FOLDER}: needs ../shared (or the folder FLOWDELTA_SHARED).`
/** Rules were chosen with the first set of incidents; the other checks them. */
const SEEDS = 30
const WITHIN = 2
const KINDS = ['latency', 'errors', 'rollout'] as const
const ATTRIBUTES = ['tenant.tier', 'cloud.region', 'feature_flag.experiment_a']
const SERVICE = 'api-server'
/** Share of requests that fail in any case, before as after. */
const NOISE = 0.004
/** Incidents of fewer requests are told apart: hardly anything shows them. */
const FEW = 30

interface RecordedSpan {
  readonly traceId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: unknown
  readonly startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { readonly code: number; readonly message?: string }
}

interface RecordedResource {
  readonly resource: { readonly attributes: unknown }
  readonly scopeSpans: readonly { readonly spans: readonly RecordedSpan[] }[]
}

interface Placed {
  readonly span: RecordedSpan
  readonly service: string
  readonly pod: string
}

interface Planted {
  readonly kind: (typeof KINDS)[number]
  /** What a finding must say. */
  readonly truth: readonly string[]
  readonly requests: number
}

/** One period, read anew, so that it can be changed. */
class Period {
  readonly #lines: readonly Record<string, unknown>[]
  /** Requests that begin at the service: root first. */
  readonly requests: readonly (readonly Placed[])[]

  constructor(path: string) {
    const text = gunzipSync(readFileSync(path)).toString().trim()
    this.#lines = text.split('\n').map((line) => JSON.parse(line))
    const spans = this.#lines.flatMap(({ resourceSpans }) =>
      (resourceSpans as RecordedResource[]).flatMap(({ resource, scopeSpans }) => {
        const service = otlpText(resource.attributes, 'service.name')
        const pod = otlpText(resource.attributes, 'k8s.pod.name')
        return scopeSpans.flatMap(({ spans }) =>
          spans.map((span): Placed => ({ span, service, pod })),
        )
      }),
    )
    this.requests = [...group(spans, ({ span }) => span.traceId).values()]
      .map((own) => own.toSorted((a, b) => +!!a.span.parentSpanId - +!!b.span.parentSpanId))
      .filter(([root]) => root?.service === SERVICE && !root.span.parentSpanId)
  }

  load(name: string) {
    const bytes = this.#lines.map((line) => JSON.stringify(line)).join('\n')
    return loadTraces({ name, bytes })
  }

  addNoise(random: RandomSource): void {
    for (const [root] of this.requests) if (random.next() < NOISE) fail(root!, 'upstream 503')
  }
}

function fail({ span }: Placed, message: string): void {
  span.status = { code: 2, message }
}

function plant(seed: number, { requests }: Period): Planted {
  const random = randomSource(1000 + seed)
  const pick = <T>(of: readonly T[]): T => of[random.integer(of.length)] as T
  const attributeOf = ([root]: readonly Placed[], key: string) =>
    otlpText(root!.span.attributes, key)
  const valuesOf = (key: string) =>
    [...new Set(requests.map((one) => attributeOf(one, key)))].sort()
  const kind = KINDS[seed % KINDS.length]!
  const key = pick(ATTRIBUTES)
  const value = pick(valuesOf(key))
  const meets = (one: readonly Placed[]) => attributeOf(one, key) === value
  if (kind === 'latency') {
    const frequent = [...group(requests, ([root]) => root!.span.name)].filter(
      ([, own]) => own.length > 220,
    )
    const [operation, own] = pick(frequent)
    const [rate, ms] = [0.15 + 0.85 * random.next(), 300 + 1500 * random.next()]
    const hit = own.filter((one) => meets(one) && random.next() < rate)
    for (const one of hit) {
      const longer = BigInt(Math.round(ms * (0.7 + 0.6 * random.next()) * 1e6))
      for (const [at, { span, service }] of one.entries()) {
        if (at > 0 && service !== 'database') continue
        span.endTimeUnixNano = String(BigInt(span.endTimeUnixNano) + longer)
      }
    }
    return { kind, truth: [operation, key, value], requests: hit.length }
  }
  if (kind === 'errors') {
    const other = pick(ATTRIBUTES.filter((one) => one !== key))
    const needed = pick(valuesOf(other))
    const rate = 0.08 + 0.1 * random.next()
    const hit = requests.filter(
      (one) => meets(one) && attributeOf(one, other) === needed && random.next() < rate,
    )
    for (const [root] of hit) fail(root!, 'handler returned 500: bad schema')
    return { kind, truth: ['fail', key, value, other, needed], requests: hit.length }
  }
  const pods = [...new Set(requests.map(([root]) => root!.pod))].sort()
  const updated = random.shuffle(pods).slice(0, 3)
  const times = requests.map(([root]) => Number(root!.span.startTimeUnixNano) / 1e9).sort()
  const onset = times[Math.floor((0.1 + 0.4 * random.next()) * times.length)]!
  const rate = 0.25 + 0.3 * random.next()
  const hit = requests.filter(
    (one) =>
      updated.includes(one[0]!.pod) &&
      meets(one) &&
      Number(one[0]!.span.startTimeUnixNano) / 1e9 > onset &&
      random.next() < rate,
  )
  for (const [root] of hit) fail(root!, 'TypeError: cannot read property')
  return { kind, truth: ['fail', ...updated, key, value], requests: hit.length }
}

const say = (line: string) => process.stdout.write(`${line}\n`)

/** What `--suite planted` prints; nothing but a notice without the shared folder. */
export async function runPlantedSuite(): Promise<void> {
  const folder = sharedData(FOLDER)
  if (folder === null) {
    say(NOTICE)
    return
  }
  const judged: (Planted & { readonly seed: number; readonly missing: readonly string[] })[] = []
  for (const seed of range(2 * SEEDS)) {
    const [before, after] = ['before', 'after'].map(
      (name) => new Period(`${folder}/${name}.jsonl.gz`),
    )
    const random = randomSource(seed)
    const planted = plant(seed, after!)
    if (planted.kind !== 'latency') for (const period of [before!, after!]) period.addNoise(random)
    const { findings } = compare(await before!.load('before'), await after!.load('after')).findings
    const told = findings.slice(0, WITHIN).map(({ text, title }) => `${title} ${text}`)
    const missing = planted.truth.filter((word) => !told.some((one) => one.includes(word)))
    judged.push({ ...planted, seed, missing })
  }
  say(`Incidents planted into a quiet hour: is all of it in the first ${WITHIN} findings?`)
  say('            requests     chosen with  others')
  for (const kind of KINDS) {
    for (const isFew of [false, true]) {
      const counts = [true, false].map((isFirst) => {
        const own = judged.filter(
          (one) =>
            one.kind === kind && one.requests < FEW === isFew && one.seed < SEEDS === isFirst,
        )
        return `${own.filter(({ missing }) => missing.length === 0).length} of ${own.length}`
      })
      const size = `${isFew ? 'under' : 'from'} ${FEW}`
      say(`${kind.padEnd(12)}${size.padEnd(13)}${counts[0]!.padEnd(13)}${counts[1]}`)
    }
  }
  for (const { seed, kind, requests, missing } of judged) {
    if (missing.length > 0) say(`  ${seed} ${kind}, ${requests} requests: ${missing.join(', ')}`)
  }
}
