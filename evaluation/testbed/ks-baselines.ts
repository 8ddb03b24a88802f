import { ksTwoSample } from '../../src/stats/ks-two-sample.ts'
import { siblingPercentiles } from '../../src/stats/sibling-percentile.ts'
import type { CallPaths } from '../../src/whatif/calls/call-paths.ts'
import type { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { callRows } from '../../src/whatif/scenarios/change-parts.ts'

/** Where the callee of each path stands by how surely its latency changed, 0 first and 1 last. */
export interface KsBaselines {
  /** Among all services other than those that requests come to; calls from anywhere. By path. */
  readonly ofServices: Float64Array
  /** The same where services that pass at the same level of the usual tables are equals. By path. */
  readonly ofServicesByLevel: Float64Array
  /** Among what the same caller calls. By path. */
  readonly ofCalls: Float64Array
}

/** Those that tables of critical values give. */
const LEVELS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1]

/**
 * Ranks what is called by the KS test alone, without a thought of what it does to response times:
 * server latencies before against after, those that pass at the lowest level of significance first.
 * What was called in one period only has no such test, and ranks last.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5, whose baseline ranks services “for passing the test at
 * a lower level”. They neither say which levels there are, which decides how many services are equals,
 * nor among which others a service is ranked: hence three.
 */
export function ksBaselines(base: RequestModel, target: RequestModel): KsBaselines {
  const { paths } = base.models
  const all = Array.from({ length: paths.size }, (_, path) => path)
  const called = all.filter((path) => paths.parent(path) >= 0)
  const services = groups(called, (path) => paths.service(path))
  const test = (members: readonly number[]) => testOf(base, target, members)
  const strength = (members: readonly number[]) => test(members).strength
  return {
    ofServices: ranked(all.length, services, strength),
    ofServicesByLevel: ranked(all.length, services, (members) => levelOf(test(members).p)),
    ofCalls: siblingRanks(paths, called, strength),
  }
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
