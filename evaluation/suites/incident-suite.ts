import { range } from 'd3-array'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import type { AttributeValue } from '../../src/traces/attributes.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { SpanTracesBuilder } from '../../src/traces/span-traces-builder.ts'
import { type Half, halfOf } from './shared-data.ts'

/*
 * Incidents of the kind of hdx-eval's, made at random: one operation of one service fails or is slow
 * where one or two conditions hold, from some time after on. Beside it, in both periods: pauses for
 * garbage collection, a flag that one tier has more often; in the period after more mobile clients.
 *
 *   web GET /a   |----------------------|
 *   cart read       |------|
 *   db query                 |-------|
 */

/** Rules were chosen with the first set of incidents; the other checks them. */
const SEEDS = 60
const REQUESTS = 4000
const PERIOD_US = 600e6
const EPOCH_US = 1_790_000_000_000_000
/** A cause must be told among the first findings; no decoy may be among the first three. */
const WITHIN = 2
const MAX_ACCUSED = 3
/** How far from the truth an onset may be, as a share of the period: few requests show it. */
const MAX_OFF = 0.05

const ROUTES = ['GET /orders', 'POST /orders', 'GET /products', 'GET /search', 'PUT /cart']
const CALLEES = ['cart read', 'db query', 'stock reserve', 'payment authorize', 'ranker score']
const DECOYS = ['runtime.event', 'client.type', 'flag.experiment', 'customer.id', 'request.id']
/** Attributes whose values may be the segment, with how frequent they are. */
const VALUES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'tenant.tier': { free: 0.7, pro: 0.2, enterprise: 0.1 },
  'cloud.region': { 'eu-west': 0.4, 'us-east': 0.35, 'ap-south': 0.25 },
  'order.size': { small: 0.6, medium: 0.25, large: 0.15 },
  'app.build': { '1.42': 0.8, '1.43': 0.2 },
  'k8s.pod.name': { 'pod-a': 0.25, 'pod-b': 0.25, 'pod-c': 0.25, 'pod-d': 0.25 },
}

interface Planted {
  readonly kind: 'errors' | 'latency'
  readonly route: string
  /** `null` where the web service itself is to blame. */
  readonly callee: string | null
  readonly conditions: readonly { readonly key: string; readonly values: readonly string[] }[]
  /** Share of all requests that the conditions hold for. */
  readonly share: number
  /** How often it fails, or by how many times it is slower. */
  readonly rate: number
  /** Share of the period after in which nothing is wrong yet. */
  readonly onset: number
}

/** What the first findings say of one incident. */
interface Judged {
  readonly seed: number
  readonly planted: Planted
  readonly named: Readonly<
    Record<'operation' | 'service' | 'conditions' | 'kind' | 'onset', boolean>
  >
  readonly decoys: readonly string[]
  readonly titles: readonly string[]
}

/** Draws what is planted: a minority of 1 to 20 % of the requests. */
function plant(random: RandomSource): Planted {
  const pick = <T>(of: readonly T[]): T => of[random.integer(of.length)] as T
  for (;;) {
    const route = pick(ROUTES)
    const keys = random.shuffle(Object.keys(VALUES)).slice(0, 1 + random.integer(2))
    const conditions = keys.map((key) => {
      const all = Object.keys(VALUES[key] as object)
      return {
        key,
        values: key === 'k8s.pod.name' ? all.slice(0, 1 + random.integer(3)) : [pick(all)],
      }
    })
    const shares = conditions.map(({ key, values }) =>
      values.reduce((sum, value) => sum + (VALUES[key]?.[value] as number), 0),
    )
    const share = shares.reduce((all, one) => all * one, 1) / ROUTES.length
    if (share < 0.01 || share > 0.2) continue
    const kind = pick(['errors', 'latency'] as const)
    return {
      kind,
      route,
      conditions,
      share,
      callee: random.next() < 0.3 ? null : (calleesOf(route)[random.integer(2)] as string),
      rate: kind === 'errors' ? 0.3 + 0.7 * random.next() : 3 + 12 * random.next(),
      onset: random.next() < 0.4 ? 0 : 0.6 * random.next(),
    }
  }
}

function calleesOf(route: string): string[] {
  const at = ROUTES.indexOf(route)
  return [0, 2].map((step) => CALLEES[(at + step) % CALLEES.length] as string)
}

function makePeriod(random: RandomSource, isAfter: boolean, planted: Planted) {
  const builder = new SpanTracesBuilder(new QualityLog())
  const fromUs = EPOCH_US + (isAfter ? PERIOD_US : 0)
  const starts = Array.from({ length: REQUESTS }, () => random.next()).sort((a, b) => a - b)
  starts.forEach((share, i) => {
    const route = ROUTES[random.integer(ROUTES.length)] as string
    const drawn = Object.entries(VALUES).map(([key, of]): [string, string] => [
      key,
      draw(random, of),
    ])
    const values = new Map<string, string>(drawn)
    const isHit =
      isAfter &&
      share >= planted.onset &&
      route === planted.route &&
      planted.conditions.every(({ key, values: wanted }) => wanted.includes(values.get(key) ?? ''))
    const isPaused = random.next() < 0.003
    const hasFlag = random.next() < (values.get('tenant.tier') === 'enterprise' ? 0.8 : 0.3)
    const attributes: [string, AttributeValue][] = [
      ...drawn,
      ['client.type', random.next() < (isAfter ? 0.5 : 0.3) ? 'mobile' : 'desktop'],
      ['flag.experiment', hasFlag ? 'on' : 'off'],
      ['customer.id', `c${random.integer(900)}`],
      ['request.id', `r${isAfter}${i}`],
      ...(isPaused ? [['runtime.event', 'gc_pause'] as [string, string]] : []),
    ]
    const usualUs = (callee: string | null) =>
      (callee === null ? 4e3 : 8e3 + 4e3 * CALLEES.indexOf(callee)) * random.logNormal(0, 0.4)
    const isAt = (callee: string | null) => isHit && callee === planted.callee
    const fails = (callee: string | null) =>
      (isAt(callee) && planted.kind === 'errors' && random.next() < planted.rate) ||
      random.next() < 0.002
    const startUs = fromUs + Math.round(share * PERIOD_US)
    const traceId = `${isAfter ? 'after' : 'before'}-${i}`
    let atUs = startUs + 500
    let failed = false
    const own = (callee: string | null) => {
      const isSlow = isAt(callee) && planted.kind === 'latency'
      return Math.round(usualUs(callee) * (isSlow ? planted.rate : 1))
    }
    const span = (
      id: string,
      callee: string | null,
      more: { startUs: number; durationUs: number },
    ) => {
      const [service = '', operation = ''] = callee === null ? ['web', route] : callee.split(' ')
      const status = failed ? 'error' : 'ok'
      const side = { traceId, service, operation, host: '', kind: 'server', status } as const
      const rest = { followsFrom: false, probability: undefined, version: undefined }
      const parentId = callee === null ? null : 'root'
      const told = callee === null ? attributes : []
      builder.add({ ...side, ...rest, ...more, spanId: id, parentId, attributes: told }, {})
    }
    for (const callee of calleesOf(route)) {
      const durationUs = own(callee)
      failed = fails(callee)
      span(callee, callee, { startUs: atUs, durationUs })
      atUs += durationUs + 200
      if (failed) break
    }
    if (!failed) {
      atUs += own(null) + (isPaused ? 1e6 : 0)
      failed = fails(null)
    }
    span('root', null, { startUs, durationUs: atUs - startUs })
  })
  return builder.finish(isAfter ? 'after' : 'before')
}

function draw(random: RandomSource, of: Readonly<Record<string, number>>): string {
  let left = random.next()
  for (const [value, share] of Object.entries(of)) {
    left -= share
    if (left < 0) return value
  }
  return ''
}

function judge(seed: number): Judged {
  const random = randomSource(seed)
  const planted = plant(random)
  const [before, after] = [false, true].map((isAfter) => makePeriod(random, isAfter, planted))
  const { findings } = compare(before as never, after as never).findings
  const first = findings.slice(0, WITHIN)
  const [service = '', operation = ''] =
    planted.callee === null ? ['web', planted.route] : planted.callee.split(' ')
  const isOf = ({ title }: Finding) => title.includes(service) && title.includes(operation)
  const text = first.map(({ title, text }) => `${title} ${text}`).join(' ')
  const isTold = ({ key, values }: Planted['conditions'][number]) => {
    const others = Object.keys(VALUES[key] as object).filter((value) => !values.includes(value))
    // All but one value is that one not.
    const isNot = others.length === 1 && text.includes(`${key} is not ${others[0]}`)
    return isNot || [key, ...values].every((name) => text.includes(name))
  }
  return {
    seed,
    planted,
    named: {
      operation: first.some(({ title }) => title.includes(operation)),
      service: first.some(({ services }) => services[0] === service),
      conditions: planted.conditions.every(isTold),
      kind: first.some((one) => one.kind === planted.kind && isOf(one)),
      onset: first.some((one) => isOf(one) && isNear(one, planted.onset)),
    },
    decoys: DECOYS.filter((name) =>
      findings.slice(0, MAX_ACCUSED).some(({ title }) => title.includes(name)),
    ),
    titles: findings.slice(0, MAX_ACCUSED).map(({ title }) => title),
  }
}

/** Whether a finding's onset, with its interval, is where it was planted, or nearly. */
function isNear({ since }: Finding, onset: number): boolean {
  if (since === null) return false
  const plantedUs = EPOCH_US + PERIOD_US * (1 + onset)
  const slackUs = MAX_OFF * PERIOD_US
  return since.lowUs - slackUs <= plantedUs && plantedUs <= since.highUs + slackUs
}

/** Compares incidents made at random, and prints how often findings tell what was planted. */
export function runIncidentSuite({ half, cases }: { half: Half; cases: boolean }): void {
  const sets = [0, SEEDS].map((from) =>
    halfOf(range(from, from + SEEDS), half, () => '').map((seed) => judge(seed)),
  )
  const share = (isIt: (one: Judged) => boolean) =>
    sets
      .map((all) => `${all.filter(isIt).length} of ${all.length}`.padEnd(13))
      .join('')
      .trimEnd()
  const parts = ['operation', 'service', 'conditions', 'kind', 'onset'] as const
  const rows = [
    '            chosen with  others',
    ...parts.map((part) => `${part.padEnd(12)}${share(({ named }) => named[part])}`),
    `all         ${share(({ named }) => parts.every((part) => named[part]))}`,
    `decoys      ${share(({ decoys }) => decoys.length > 0)}`,
  ]
  const told = sets.flat().map(({ seed, planted, named, decoys, titles }) => {
    const missing = [
      ...parts.filter((part) => !named[part]),
      ...decoys.map((one) => `accuses ${one}`),
    ]
    const { kind, route, callee, conditions, share, rate, onset } = planted
    const where = conditions.map(({ key, values }) => `${key} = ${values.join('|')}`).join(' and ')
    const what = `${kind} x${rate.toFixed(1)} of ${route} ${callee ?? 'itself'} where ${where}`
    const size = `${(100 * share).toFixed(1)} % of requests from ${onset.toFixed(2)} on`
    return [`${seed}: ${what}, ${size}: ${missing.join(', ') || 'all told'}`, ...titles].join(
      '\n      ',
    )
  })
  process.stdout.write(
    `Incidents made at random: is what was planted in the first ${WITHIN} findings?\n` +
      `${rows.join('\n')}\n${cases ? `${told.join('\n')}\n` : ''}`,
  )
}
