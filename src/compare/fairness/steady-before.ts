// Runs once a request: the loops index with `!`.
import { mean } from 'd3-array'
import { formatAmount } from '../../core/quantity.ts'
import { certaintyText, formatDuration, percent, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { longRunVariance } from '../../stats/change-point.ts'
import { normalP } from '../../stats/distributions.ts'
import { midranks } from '../../stats/midranks.ts'
import { median } from '../../stats/quantile.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { rootTypes } from '../steps/root-types.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Number of equally large parts of a period; few requests tell nothing. */
const PARTS = 20
const MIN_REQUESTS = 5 * PARTS
const STRETCHES = PARTS ** 2 / 2
/** Corrected for all stretches and measures. */
const LEVEL = 1e-4
/** Times that differ by this factor matter, and failures by this share of requests. */
const MIN_FACTOR = 1.25
const MIN_FAILING = 0.05
/** Smallest part of a change that the other period must show in the same stretch for both to count as similar. */
const ALIKE = 0.5

interface Measure {
  /** Kind of request whose response times these are; `null` for failures of all. */
  readonly name: string | null
  readonly requests: Uint32Array
  readonly values: Float64Array
}

/** Parts from `from` to `to`, with the measure there and elsewhere. */
type Stretch = ReturnType<typeof oddStretch>

/**
 * Warns if a stretch of the before period has other response times (by kind of request) or failures than the rest, and
 * the after period has no such stretch: an outage, a jump, or another load. The stretch has a twentieth to half of the
 * requests. Noise is the long-run variance, so drifting levels give no warning.
 */
export function unsteadyBefore({ flows }: Pick<ComparedPeriods, 'flows'>): ComparisonWarning[] {
  const measures = measuresOf(flows, BEFORE).filter(({ values }) => values.length >= MIN_REQUESTS)
  const odd = measures
    .map((measure) => ({ measure, stretch: oddStretch(measure.values) }))
    .filter(({ stretch }) => stretch.p * measures.length < LEVEL)
  if (odd.length === 0) return []
  const after = new Map(measuresOf(flows, AFTER).map((measure) => [measure.name, measure]))
  const found = odd.flatMap(({ measure, stretch }) => {
    const change = changeIn(measure, stretch)
    const least = measure.name === null ? MIN_FAILING : Math.log(MIN_FACTOR)
    const same = changeIn(after.get(measure.name), stretch)
    const isAlike = same.by / change.by >= ALIKE
    return Math.abs(change.by) < least || isAlike ? [] : [{ measure, stretch, change }]
  })
  const [first] = found.sort((a, b) => a.stretch.p - b.stretch.p)
  if (first === undefined) return []
  const { measure, stretch, change } = first
  const { requests, name } = measure
  const [from, last] = [boundOf(requests, stretch.from), boundOf(requests, stretch.to) - 1]
  const fromUs = flows.arrivalUs(requests[from]!)
  const afterStartUs = fromUs - flows.arrivalUs(requestsOf(flows, BEFORE)[0]!)
  const lastsUs = flows.arrivalUs(requests[last]!) - fromUs
  const start = afterStartUs > 0 ? `${formatDuration(afterStartUs)} after its start` : 'its start'
  const said = (level: number) =>
    name === null ? percent(level) : formatAmount(level, flows.quantity)
  const what =
    name === null
      ? `${said(change.inside)} of requests failed`
      : `the median of ${printable(name)} was ${said(change.inside)}`
  return warning('unsteady-before', {
    finding:
      `The before period is not steady: for ${formatDuration(lastsUs)} from ${start}, ${what}, ` +
      `otherwise ${said(change.outside)} (${certaintyText(stretch.p * measures.length)}).`,
    effect: 'Comparisons use the mix of both, so changes may look smaller or larger than they are.',
    answer: 'Select a steady stretch of it with `between` or `selectRequests`.',
  })
}

/** Returns the requests of a period in the order of their arrival. */
function requestsOf(flows: FlowSet, period: Period): Uint32Array {
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const arrivals = new Float64Array(flows.count(period))
  for (let at = 0; at < arrivals.length; at++) arrivals[at] = flows.arrivalUs(first + at)
  return ascendingOrder(arrivals).map((at) => first + at)
}

function measuresOf(flows: FlowSet, period: Period): Measure[] {
  const all = requestsOf(flows, period)
  const { names, typeOf } = rootTypes(flows)
  const { outcomes, responseTimeUs } = flows
  const measured = all.filter((request) => responseTimeUs[request]! > 0)
  const types = measured.map((request) => typeOf[request]!)
  const { offsets, rows } = groupRows(types, names.length)
  return [
    {
      name: null,
      requests: all,
      values: Float64Array.from(all, (one) => (outcomes?.failed(one) ? 1 : 0)),
    },
    ...names.map((name, type) => {
      const requests = rows.subarray(offsets[type], offsets[type + 1]).map((at) => measured[at]!)
      return { name, requests, values: Float64Array.from(requests, (one) => responseTimeUs[one]!) }
    }),
  ]
}

function boundOf({ length }: ArrayLike<unknown>, part: number): number {
  return Math.round((part * length) / PARTS)
}

/** Returns the stretch whose mean rank is the most standard errors from that of the rest. */
function oddStretch(values: Float64Array) {
  const ranks = midranks(values)
  const count = ranks.length
  const bounds = Array.from({ length: PARTS + 1 }, (_, part) => boundOf(ranks, part))
  const center = (count + 1) / 2
  const sums = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) sums[i + 1] = sums[i]! + ranks[i]! - center
  let [from, to, most] = [0, 1, 0]
  for (let i = 0; i < PARTS; i++) {
    for (let j = i + 1; j <= Math.min(PARTS, i + PARTS / 2); j++) {
      const inside = bounds[j]! - bounds[i]!
      const sum = Math.abs(sums[bounds[j]!]! - sums[bounds[i]!]!)
      const size = sum * Math.sqrt(count / (inside * (count - inside)))
      if (size > most) [from, to, most] = [i, j, size]
    }
  }
  if (most === 0) return { from, to, p: 1 }
  const [inside, outside] = [true, false].map((is) => mean(partOf(ranks, { from, to }, is)) ?? 0)
  const level = (i: number) => (i >= bounds[from]! && i < bounds[to]! ? inside! : outside!)
  const noise = longRunVariance(Array.from(ranks, (rank, i) => rank - level(i)))
  return { from, to, p: STRETCHES * normalP(most / Math.sqrt(noise), 'two-sided') }
}

/** Values within a stretch, or outside of it. */
function partOf(values: Float64Array, { from, to }: Pick<Stretch, 'from' | 'to'>, inside: boolean) {
  const [start, end] = [boundOf(values, from), boundOf(values, to)]
  return values.filter((_, i) => (i >= start && i < end) === inside)
}

/** Compares a measure inside a stretch with the rest; for times, by the logarithm of their medians. */
function changeIn(measure: Measure | undefined, stretch: Stretch) {
  const { name, values } = measure ?? { name: null, values: new Float64Array() }
  const [inside, outside] = [true, false].map((is) => {
    const part = partOf(values, stretch, is)
    return (name === null ? mean(part) : median(part)) ?? Number.NaN
  }) as [number, number]
  return { inside, outside, by: name === null ? inside - outside : Math.log(inside / outside) }
}
