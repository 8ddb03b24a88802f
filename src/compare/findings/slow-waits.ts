// Runs once a message: the loops index with `!`.
import { group, least, median, range, sort, sum } from 'd3-array'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { operationOf } from '../../flows/node-labels.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Draft } from './finding.ts'
import { placeTitle } from './names.ts'
import {
  FAR,
  MIN_BEFORE,
  SLOW,
  SLOW_BEFORE,
  type SlowStretch,
  slowest,
  stretchOf,
} from './stretches.ts'

/** Waits beyond this share of those before are high; fewer others than these between two of them part no peaks. */
const HIGH = 0.9
const MIN_APART = 10
const PEAK_LEVEL = 0.01

/**
 * Finds the stretch in which sent messages waited far longer, because nobody received for a while. Applies the same
 * test to each operation that receives from another; before must not show such a peak either.
 */
export function findSlowWaits(flows: FlowSet, drafts: readonly Draft[]): SlowStretch | null {
  const { messages, ids, labels, epochsUs, recordedIn, runs } = flows
  if (messages === undefined) return null
  const { waitUs, receivedUs, offsets } = messages
  const requestOf = new Uint32Array(waitUs.length)
  for (let one = 0; one < flows.size; one++) requestOf.fill(one, offsets[one], offsets[one + 1])
  const recordingOf = (message: number) => recordedIn[requestOf[message]!]!
  const sentUs = (message: number) =>
    (epochsUs[recordingOf(message)] ?? 0) + receivedUs[message]! - waitUs[message]!
  const known = range(waitUs.length).filter((message) => !Number.isNaN(waitUs[message]))
  const ways = group(sort(known, sentUs), (message) => {
    const to = operationOf(labels.get(messages.receiver[message]!))
    const from = operationOf(labels.get(messages.sender[message]!))
    return JSON.stringify([from.service, to.service, to.operation])
  })
  const found = Array.from(ways, ([way, all]): SlowStretch | null => {
    const [caller, service, operation] = JSON.parse(way) as [string, string, string]
    const of = (isWanted: (message: number) => boolean) => Uint32Array.from(all.filter(isWanted))
    const isAfter = (message: number) => flows.period[requestOf[message]!] === AFTER
    const before = runs.map((run) => of((one) => !isAfter(one) && recordingOf(one) === run))
    const own = Float64Array.from(
      before.flatMap((rows) => [...rows]),
      (message) => waitUs[message]!,
    ).sort()
    const isOfOther = ({ kind, services }: Draft) => kind !== 'load' && !services.includes(service)
    if (own.length < MIN_BEFORE || !drafts.every(isOfOther)) return null
    const over = (limitUs: number) => (message: number) => waitUs[message]! - limitUs
    const excess = over(quantile(own, 0.5))
    const stretch = stretchOf([...before, of(isAfter)], {
      overLimit: over(FAR * quantile(own, SLOW)),
      overLower: over(quantile(own, SLOW_BEFORE)),
      several: ways.size,
    })
    if (stretch === null) return null
    const { slow, told } = stretch
    const longest = waitUs[slowest(slow, excess)[0]!]!
    if (!(chanceOfPeak(longest, { waitUs, runs: before, ownUs: own }) < PEAK_LEVEL)) return null
    return {
      ...told,
      of: 'messages',
      fromUs: sentUs(slow[0]!),
      untilUs: sentUs(slow.at(-1)!),
      isTimeOfDay: periodOverlap(flows) !== null,
      affected: slow.length,
      typicalUs: median(slow, excess)!,
      excessUs: sum(slow, excess),
      where: placeTitle({ kind: 'call', service, caller }, operation),
      examples: [...new Set(slowest(slow, excess).map((message) => ids[requestOf[message]!]!))],
    }
  })
  return (
    least(
      found.filter((one) => one !== null),
      ({ p }) => p,
    ) ?? null
  )
}

/**
 * Returns the chance that one of as many peaks as before has reaches a wait: where messages wait for each other, a
 * single slow one makes many wait. Peaks are taken to have a tail of Pareto, heavier than that of most queues.
 *
 * Source: Hill 1975, "A simple general approach to inference about the tail of a distribution"; Smith and
 * Weissman 1994, "Estimating the extremal index", for peaks of runs.
 */
function chanceOfPeak(
  longestUs: number,
  {
    waitUs,
    runs,
    ownUs,
  }: { waitUs: Float64Array; runs: readonly Uint32Array[]; ownUs: Float64Array },
): number {
  const highUs = quantile(ownUs, HIGH)
  const peaks = runs.flatMap((rows) => {
    const high: number[] = []
    let apart = MIN_APART
    for (const message of rows) {
      const us = waitUs[message]!
      if (us <= highUs) apart++
      else {
        if (apart >= MIN_APART) high.push(us)
        else high.push(Math.max(us, high.pop()!))
        apart = 0
      }
    }
    return high
  })
  const logs = sum(peaks, (us) => Math.log(us / highUs))
  return peaks.length * (1 + Math.log(longestUs / highUs) / logs) ** -peaks.length
}
