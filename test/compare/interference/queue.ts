import type { StepChanges } from '../../../src/compare/steps/step-changes.ts'
import { stepTimes } from '../../../src/compare/steps/step-times.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans } from '../../make-traces.ts'

/** Length of a period in ms. */
export const PERIOD_MS = 20_000

/** A request of a tenant, and how long the database works for it. */
export interface Job {
  readonly atMs: number
  readonly tenant: string
  readonly operation: string
  readonly ms: number
  /** Another service beside the database that does it, without waiting. */
  readonly service?: string
}

/** The database: how many jobs it does at a time, how much slower it is, when it stands still, and on which host. */
export interface Database {
  readonly servers?: number
  readonly factor?: number
  readonly stops?: readonly (readonly [fromMs: number, toMs: number])[]
  readonly host?: string
}

/** Jobs that arrive at random. */
export function stream(
  { next }: { next: () => number },
  { perSecond, ms, ...job }: Omit<Job, 'atMs'> & { perSecond: number },
): Job[] {
  const exponential = (mean: number) => -Math.log(1 - next()) * mean
  const jobs: Job[] = []
  for (
    let atMs = exponential(1000 / perSecond);
    atMs < PERIOD_MS;
    atMs += exponential(1000 / perSecond)
  ) {
    jobs.push({ ...job, atMs, ms: exponential(ms) })
  }
  return jobs
}

/** Three tenants that read and write, as many times as often as usual. */
export function usual(random: { next: () => number }, times = 1): Job[] {
  return ['a', 'b', 'c'].flatMap((tenant) =>
    ['get', 'put'].flatMap((operation) =>
      stream(random, { tenant, operation, perSecond: 20 * times, ms: 2 }),
    ),
  )
}

/**
 * Traces of jobs at a database with one queue: who comes first is served first.
 *
 * ```
 * web    |-------------------------|   says tenant.id
 *   db    |~~~~ waits ~~~~|-works-|   called from one of three gates
 * ```
 */
export function queue(
  seed: number,
  jobs: (random: { next: () => number }) => readonly Job[],
  { servers = 1, factor = 1, stops = [], host = '' }: Database = {},
) {
  const free = new Array<number>(servers).fill(0)
  const us = (ms: number) => Math.round(ms * 1000)
  const random = randomSource(1000 + seed)
  const sorted = jobs(randomSource(seed)).toSorted((a, b) => a.atMs - b.atMs)
  return makeSpans(
    sorted.flatMap(({ atMs, tenant, operation, ms, service = 'db' }, i) => {
      const server = free.indexOf(Math.min(...free))
      const waits = service === 'db'
      let beginMs = waits ? Math.max(atMs, free[server] as number) : atMs
      for (const [from, to] of stops) if (beginMs >= from && beginMs < to) beginMs = to
      const endMs = beginMs + ms * factor
      if (waits) free[server] = endMs
      const trace = `${seed}-${i}`
      return [
        {
          trace,
          id: `web${i}`,
          service: 'web',
          host: `gate-${random.integer(3)}`,
          operation,
          startUs: us(atMs - 0.2),
          endUs: us(endMs + 0.2),
          attributes: { 'tenant.id': tenant },
        },
        {
          trace,
          id: `db${i}`,
          parent: `web${i}`,
          service,
          host,
          operation: 'query',
          startUs: us(atMs),
          endUs: us(endMs),
        },
      ]
    }),
  )
}

/** What `findInterference` needs of a comparison whose database became slower. */
export function slowDatabase(
  ...[before, after]: [ReturnType<typeof queue>, ReturnType<typeof queue>]
) {
  const flows = buildFlows([before, after])
  const steps = {
    flows,
    times: stepTimes(flows),
    options: { alpha: 0.05 },
  } as unknown as StepChanges
  const step = {
    kind: 'work',
    service: 'db',
    caller: null,
    operation: 'query',
    shiftUs: 1,
  } as const
  return [{ steps }, { kind: 'latency', direction: 'slower', steps: [step] }] as const
}
