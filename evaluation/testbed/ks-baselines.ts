// Over every call of both periods: the loops index with `!`.
import { max } from 'd3-array'
import type { CallPaths } from '../../src/calls/call-paths.ts'
import { ksTwoSample } from '../../src/stats/ks-two-sample.ts'
import { siblingPercentiles } from '../../src/stats/sibling-percentile.ts'
import type { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { callRows } from '../../src/whatif/scenarios/change-parts.ts'

/** Where the callee of each path stands by how surely its latency changed, 0 first and 1 last. */
export interface KsBaselines {
  /** Among all services other than those that requests come to; calls from anywhere. By path. */
  readonly ofServices: Float64Array
  /** The same where services that pass at the same level of the usual tables are equals. By path. */
  readonly ofServicesByLevel: Float64Array
  /** As `ofServices`, where a service counts as the surest of itself and what it calls. By path. */
  readonly ofServicesAhead: Float64Array
  /** Among what the same caller calls. By path. */
  readonly ofCalls: Float64Array
  /** As `ofCalls`, where a call counts as the surest of itself and the calls below it. By path. */
  readonly ofCallsAhead: Float64Array
}

/** Those that tables of critical values give. */
const LEVELS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1]

/**
 * Ranks what is called by the KS test alone, without a thought of what it does to response times:
 * server latencies before against after, those that pass at the lowest level of significance first.
 * What was called in one period only has no such test, and ranks last.
 *
 * The diagnosis places a caller by the best candidate below it. The baselines that look ahead do so too,
 * so that what remains of the difference is not owed to that.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5, whose baseline ranks services “for passing the test at
 * a lower level”. They neither say which levels there are, which decides how many services are equals,
 * nor among which others a service is ranked: hence three.
 */
export function ksBaselines(base: RequestModel, target: RequestModel): KsBaselines {
  const { paths } = base.models
  const all = paths.all()
  const called = all.filter((path) => paths.parent(path) >= 0)
  const services = groups(called, (path) => paths.service(path))
  const testsOf = new Map(
    services.map((members) => [members as readonly number[], testOf(base, target, members)]),
  )
  const ofService = new Float64Array(all.length).fill(Number.NaN)
  for (const [members, { strength }] of testsOf)
    for (const path of members) ofService[path] = strength
  const ofPath = Float64Array.from(all, (path) => testOf(base, target, [path]).strength)
  const [serviceAhead, pathAhead] = [ofService, ofPath].map((own) => strongestBelow(paths, own))
  return {
    ofServices: ranked(all.length, services, (members) => strongest(members, ofService)),
    ofServicesByLevel: ranked(all.length, services, (members) => levelOf(testsOf.get(members)!.p)),
    ofServicesAhead: ranked(all.length, services, (members) => strongest(members, serviceAhead!)),
    ofCalls: siblingRanks(paths, called, (members) => testOf(base, target, members).strength),
    ofCallsAhead: siblingRanks(paths, called, (members) => strongest(members, pathAhead!)),
  }
}

/** The strongest of some paths; NaN where none has a test. */
function strongest(members: readonly number[], strengths: Float64Array): number {
  return max(members, (path) => strengths[path]) ?? Number.NaN
}

/** By path: the strongest of itself and all below it; what has no test does not count. */
function strongestBelow(paths: CallPaths, strengths: Float64Array): Float64Array {
  const best = strengths.slice()
  // A path's number is larger than its caller's.
  for (let path = best.length - 1; path >= 0; path--) {
    const parent = paths.parent(path)
    if (parent >= 0) best[parent] = max([best[parent]!, best[path]!]) ?? Number.NaN
  }
  return best
}

/** How many of the levels a test passes at; NaN where it was not made. */
function levelOf(p: number): number {
  return Number.isNaN(p) ? p : LEVELS.filter((level) => p < level).length
}

type Strength = (paths: readonly number[]) => number

function siblingRanks(paths: CallPaths, called: readonly number[], strength: Strength) {
  const ranks = new Float64Array(paths.size).fill(Number.NaN)
  for (const siblings of groups(called, (path) => paths.parent(path))) {
    const own = ranked(
      paths.size,
      groups(siblings, (path) => paths.name(path)),
      strength,
    )
    for (const path of siblings) ranks[path] = own[path] as number
  }
  return ranks
}

function groups<T>(paths: readonly number[], key: (path: number) => T): number[][] {
  const found = new Map<T, number[]>()
  for (const path of paths) {
    const group = found.get(key(path))
    if (group === undefined) found.set(key(path), [path])
    else group.push(path)
  }
  return [...found.values()]
}

/** Percentiles of groups of paths, by path; NaN for paths in none. */
function ranked(size: number, all: readonly (readonly number[])[], strength: Strength) {
  // The strongest first; NaN stays NaN, and last.
  const scores = siblingPercentiles(all.map((members) => -strength(members)))
  const ranks = new Float64Array(size).fill(Number.NaN)
  all.forEach((members, i) => {
    for (const path of members) ranks[path] = scores[i] as number
  })
  return ranks
}

/** `strength` orders as p does, also where p is too small for a number. */
function testOf(base: RequestModel, target: RequestModel, paths: readonly number[]) {
  const timesOf = ({ forest }: RequestModel) =>
    Float64Array.from(callRows(forest, paths), (call) => forest.serverUs[call] as number)
  const { statistic, p, beforeCount, afterCount } = ksTwoSample(timesOf(base), timesOf(target))
  return {
    p,
    strength: statistic * Math.sqrt((beforeCount * afterCount) / (beforeCount + afterCount)),
  }
}
