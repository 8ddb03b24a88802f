// Runs once a request of a service: the loops index with `!`.

import { group, median } from 'd3-array'
import { allVisits } from '../../calls/visits.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import { logOf } from '../../stats/moderated-shifts.ts'
import type { StepSample, StepStratum } from '../steps/step-strata.ts'
import { stepKey, strataOfStep } from '../steps/step-times.ts'
import type { Compared, Draft, FindingStep } from './finding.ts'
import { headOf } from './finding-head.ts'

/** Smallest number of services with the same change that count as one change. */
const MIN_SERVICES = 3
/** Share of the services, and of the hosts, that must agree, of those whose factor is known. */
const MIN_AGREEING = 0.8
/** Largest standard error of a known factor, as a share of the common one, as logs. */
const MAX_ERROR = 0.25
/** Standard errors, or share of the common factor, as logs, within which factors agree. */
const SURE = 3
const MAX_APART = 1 / 3

type Values = Pick<StepSample, 'values'>
type Strata = readonly Record<'before' | 'after', Values>[]
type Factor = ReturnType<typeof factorOf>

/**
 * Puts one finding before those of single services where what services do themselves takes longer,
 * or less, by about the same factor on all hosts: half of all services, and nearly all of those whose
 * factor is known well. It covers findings that say no more than that factor; what changed by more,
 * in few calls or in a segment stands out and stays apart.
 */
export function withSameFactor(
  drafts: readonly Draft[],
  { categories, steps: { flows, ownTimes, times, steps } }: Compared,
): readonly Draft[] {
  // Findings are tested: without any nothing changed, and one stands for itself.
  const inPlaces = new Set(drafts.flatMap(({ covers = [] }) => covers))
  const open = drafts.filter((one) => isOfTimes(one) && !inPlaces.has(one.key))
  const found = new Set(open.flatMap(({ services }) => services))
  if (found.size < 2) return drafts
  // If spans lie within a service's work, its last times are those that no span covers.
  const own = new Map(ownTimes.map((one) => [one.service, one.strata]))
  const all = Array.from(own, ([service, strata]) => {
    const step = steps.find((one) => one.kind === 'work' && one.service === service)
    return factorOf(service, strata, step?.designEffect)
  })
  const centre = median(all, ({ log }) => log) ?? Number.NaN
  const agreeing = agreeingWith(centre, all)
  const names = new Set(agreeing.map(({ name }) => name))
  if (names.size < Math.max(MIN_SERVICES, all.length / 2)) return drafts
  const ofAgreeing = [...own].filter(([service]) => names.has(service))
  const hosts = factorsOfHosts(flows, ofAgreeing)
  if (agreeingWith(centre, hosts).length === 0) return drafts
  const direction = centre > 0 ? 'slower' : 'faster'
  const isNoMore = (step: FindingStep) => {
    const own = factorOf(step.operation, strataOfStep(times, step))
    const isMore = Math.abs(own.log) - Math.abs(centre) > apartAt(centre, own)
    return !isMore && (step.kind !== 'work' || names.has(step.service))
  }
  const covered = open.filter(
    (draft) => draft.direction === direction && draft.steps.every(isNoMore),
  )
  if (covered.length === 0) return drafts
  const keys = new Set(covered.flatMap((draft) => draft.steps.map(stepKey)))
  const rows = new Set(steps.flatMap((step) => (keys.has(stepKey(step)) ? step.requests : [])))
  const others = all.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  const evidence = {
    of: 'factor',
    factor: Math.exp(centre),
    services: [names.size, all.length],
    others,
    hosts: hosts.length,
  } as const
  const key = 'all services by the same factor'
  const head = headOf(covered, { kind: 'latency', evidence, key, categories, rows: [...rows] })
  return [head, ...drafts]
}

/** Whether a draft is of how long steps take, in whatever requests. */
function isOfTimes({ kind, steps, segment, covers }: Draft): boolean {
  const isKind = kind === 'latency' || kind === 'unattributed'
  const isOfAll = segment === undefined && steps.every(({ share }) => share === undefined)
  return isKind && isOfAll && steps.length > 0 && covers === undefined
}

/**
 * Returns the factor by which times grew: its log, and the standard error of the log, which is larger if levels drift.
 */
function factorOf(name: string, strata: Strata, designEffect = 1) {
  const logs = ({ values }: Values) => values.map(logOf)
  const pairs = strata.map((one) => ({ before: logs(one.before), after: logs(one.after) }))
  const { shift, low, high } = stratifiedShift(pairs, { sorted: true })
  const error = (Math.sqrt(designEffect) * (high - low)) / 2 / normalQuantile(0.975)
  return { name, log: shift, error }
}

/** Returns the well-known factors that agree with the common one; none if they are too few. */
function agreeingWith(centre: number, factors: readonly Factor[]): readonly Factor[] {
  const known = factors.filter(({ error }) => error <= MAX_ERROR * Math.abs(centre))
  const agreeing = known.filter((one) => Math.abs(one.log - centre) <= apartAt(centre, one))
  return agreeing.length >= MIN_AGREEING * known.length ? agreeing : []
}

function apartAt(centre: number, { error }: Factor): number {
  return Math.max(SURE * error, MAX_APART * Math.abs(centre))
}

/** Returns the factor by which times of some services grew on each host, relative to similar times before. */
function factorsOfHosts(
  flows: FlowSet,
  own: readonly (readonly [service: string, strata: readonly StepStratum[]])[],
): Factor[] {
  const visits = allVisits(flows)
  const hostOf = (request: number, service: string) => {
    const shape = flows.shapeOf[request]!
    const entry = visits.get(shape)?.visits.find((one) => one.service === service)?.entry ?? 0
    return flows.labels.get(flows.shapes.labels(shape)[2 * entry]!).host
  }
  const times = own.flatMap(([service, strata]) =>
    strata.flatMap(({ before, after: { values, requests } }) => {
      const rows = group(values.keys(), (row) => hostOf(requests[row]!, service))
      return Array.from(rows, ([host, here]) => {
        return { host, before, after: { values: Float64Array.from(here, (row) => values[row]!) } }
      })
    }),
  )
  const ofHosts = group(times, ({ host }) => host)
  return Array.from(ofHosts, ([host, strata]) => factorOf(host, strata))
}
