import { group, median } from 'd3-array'
import type { Finding, FindingCall } from '../../src/compare/findings/finding.ts'
import type { CallChoice, CallCounts } from '../../src/compare/steps/call-counts.ts'
import { type StepTimes, stepKey } from '../../src/compare/steps/step-times.ts'
import { timeBlocks } from '../../src/compare/steps/time-blocks.ts'
import type { Comparison } from '../../src/comparison/comparison.ts'

/** Pairs of stretches that are in order, of those whose periods stand apart. */
const APART = 0.95

/** What each stretch of time shows of one thing: stretches before, then after. */
type Stretches = readonly [before: readonly number[], after: readonly number[]]

/**
 * Whether something that a finding rests on really was different between the periods, whatever the
 * reason, without any test: of all pairs of a stretch of time before and one after (ten of each run),
 * 95 % have their median time, or their share of calls, in the same order.
 */
export function standsApart(finding: Finding, { steps }: Comparison): boolean {
  const { perRun, runs } = timeBlocks(steps.flows)
  const boundary = perRun * runs
  const times = finding.steps.flatMap((step) => {
    const known = steps.times.find((one) => stepKey(one) === stepKey(step))
    return known === undefined ? [] : [...mediansByOperation(known, boundary)]
  })
  const shares = finding.calls.flatMap((call) => {
    const key = callKey(call)
    return steps.calls.filter((one) => callKey(one) === key).map((one) => sharesOf(one, boundary))
  })
  return [...times, ...shares].some(isApart)
}

function isApart([before, after]: Stretches): boolean {
  const order = before.flatMap((one) => after.map((other) => Math.sign(other - one)))
  const slower = order.filter((sign) => sign > 0).length
  const faster = order.filter((sign) => sign < 0).length
  return order.length > 0 && Math.max(slower, faster) >= APART * order.length
}

function mediansByOperation({ strata }: StepTimes, boundary: number): Stretches[] {
  return [...group(strata, ({ operation }) => operation).values()].map((own) => {
    const byStretch = new Map<number, number[]>()
    for (const { values, blocks } of own.flatMap(({ before, after }) => [before, after])) {
      values.forEach((value, i) => {
        const stretch = blocks[i] as number
        const others = byStretch.get(stretch)
        if (others === undefined) byStretch.set(stretch, [value])
        else others.push(value)
      })
    }
    const medians = Array.from(byStretch, ([stretch, all]) => [stretch, median(all)] as const)
    return periodsOf(medians, boundary)
  })
}

function sharesOf({ strata }: CallCounts, boundary: number): Stretches {
  const [made, chances] = [[] as number[], [] as number[]]
  for (const stratum of strata) {
    stratum.made.forEach((count, i) => {
      made[i] = (made[i] ?? 0) + count
      chances[i] = (chances[i] ?? 0) + (stratum.chances[i] as number)
    })
  }
  const shares = chances.flatMap((all, i) => (all > 0 ? [[i, (made[i] as number) / all]] : []))
  return periodsOf(shares as [number, number][], boundary)
}

function periodsOf(
  values: readonly (readonly [stretch: number, value: number | undefined])[],
  boundary: number,
): Stretches {
  const where = (isAfter: boolean) =>
    values.flatMap(([stretch, value]) =>
      stretch >= boundary === isAfter && value !== undefined ? [value] : [],
    )
  return [where(false), where(true)]
}

function callKey({ of, kind, previous, call }: CallChoice | FindingCall): string {
  return JSON.stringify([of, kind, previous, call])
}
