// Runs once a record: the loops index with `!`.

import { group, sum } from 'd3-array'
import { allVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import { shortText } from '../../core/words.ts'
import type { FlowLogColumns, Statement } from '../../flows/flow-logs.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { GRAVE_LEVELS } from '../../traces/log-records.ts'
import { type Verdict, verdictOf } from '../mutations/find-response-time-mutations.ts'
import { MAX_TEXT, MIN_SEEN, SMALL } from '../thresholds.ts'
import { type CallChoice, sameTest } from './call-counts.ts'
import type { Operation } from './call-order.ts'
import type { Corrected } from './compare-errors.ts'
import {
  type CountedBoth,
  type CountsTest,
  compareBoth,
  StretchCounts,
  type TimeBlocks,
  timeBlocks,
} from './time-blocks.ts'

/** Change of how often spans of an operation log a statement. */
export interface LogChange extends Omit<LogCounts, 'ofRequests'>, CountsTest, Verdict {
  /** p corrected over all tests of steps, calls, errors and logs together. */
  readonly q: number
}

export interface LogTests {
  readonly tests: readonly { readonly counts: LogCounts; readonly test: CountsTest }[]
  readonly distinct: number
  readonly p: number
}

/**
 * Tests which statements spans log more or less often, and which statements follow each. The requests with any must
 * differ as well, because the spans of one request log together.
 */
export function testLogs(flows: FlowSet): LogTests[] {
  const { logs } = flows
  if (logs === undefined || flows.quantity !== TIME || !areFromSpans(flows)) return []
  const blocks = timeBlocks(flows)
  const counted = logCounts(flows, logs, blocks)
  const tests = compareBoth(counted, blocks).map((test, i) => ({ counts: counted[i]!, test }))
  return [...group(tests, ({ counts }) => JSON.stringify(counts.of)).values()].map((members) => {
    const known = members.filter(({ test }) => !Number.isNaN(test.p))
    const distinct = new Map(known.map(({ counts, test: { p } }) => [sameTest(counts, p), p]))
    return { tests: known, distinct: distinct.size, p: bonferroni([...distinct.values()]) }
  })
}

export function describeLogs(
  { logs }: FlowSet,
  tests: readonly LogTests[],
  { q: qOf, alpha, minimumShare }: Corrected,
): LogChange[] {
  return tests.flatMap((operation, i) =>
    operation.tests.map(({ counts: { ofRequests: _, ...counts }, test }): LogChange => {
      const q = Math.max(qOf[i] as number, Math.min(1, test.p * operation.distinct))
      const level = logs?.statements[counts.statement]?.level ?? ''
      const least = ERRORS.has(level) ? minimumShare : SMALL
      const isLarge = Math.abs(test.difference) >= least
      const verdict = verdictOf(q, { alpha }, () => [!isLarge && 'too small'])
      return { ...counts, ...test, q, ...verdict }
    }),
  )
}

/** A statement that spans of an operation may log, counted in both periods. */
export interface LogCounts extends CallChoice, CountedBoth {
  /** Statement that it is about, index in `flows.logs.statements`; -1 where nothing more is logged. */
  readonly statement: number
  /** Requests with a span that logs it, and requests with a span that could. */
  readonly doing: ReadonlySet<number>
  readonly able: ReadonlySet<number>
  /** Mean number of records before it in its span. */
  readonly place: number
  /** Depth of the shallowest span that could, counted in spans from the root. */
  readonly depth: number
}

class Tally {
  readonly spans: StretchCounts
  readonly requests: StretchCounts
  #last = -1

  constructor(flows: FlowSet, size: number) {
    this.spans = new StretchCounts(flows, size)
    this.requests = new StretchCounts(flows, size)
  }

  add(request: number, block: number): void {
    this.spans.add(request, block)
    if (this.#last !== request) this.requests.add(request, block)
    this.#last = request
  }
}

interface Site {
  readonly all: Tally
  /** Tallies by statement, and by a statement with its successor. */
  readonly did: Map<string, Tally>
}

/**
 * Counts which statements spans log, and which follow each, given that their operation was called. Leaves out requests
 * outside the time of records, because logs may be shorter than traces, and services that log nothing in one period.
 */
function logCounts(
  flows: FlowSet,
  logs: FlowLogColumns,
  { of: blockOf, perRun, runs }: TimeBlocks,
): readonly LogCounts[] {
  const visits = allVisits(flows)
  const newTally = () => new Tally(flows, perRun * (runs + 1))
  const operations = new Map<string, OperationLogs>()
  const ofShape = new Map<number, readonly { own: OperationLogs; site: Site }[]>()
  for (const [shape, { tree, visitOf, operations: names }] of visits) {
    const depths = new Uint16Array(tree.size)
    ofShape.set(
      shape,
      names.map((operation, span) => {
        const { service, callingOperation } = visitOf[span]!
        if (span > 0) depths[span] = depths[tree.parent[span]!]! + 1
        const key = JSON.stringify([service, operation])
        const own = getOrInsert(operations, key, () => new OperationLogs({ service, operation }))
        own.depth = Math.min(own.depth, depths[span]!)
        return { own, site: own.site(callingOperation, newTally) }
      }),
    )
  }
  const isCovered = requestsCovered(flows, logs)
  const talking = [new Set<string>(), new Set<string>()] as const
  flows.shapeOf.forEach((shape, request) => {
    if (!isCovered(request)) return
    const block = blockOf[request]!
    let at = logs.offsets[request]!
    const end = logs.offsets[request + 1]!
    ofShape.get(shape)!.forEach(({ own, site }, span) => {
      const first = at
      while (at < end && logs.span[at] === span) at++
      site.all.add(request, block)
      own.requests.add(request)
      if (at === first) return
      own.add(site, logs.statement.subarray(first, at), { request, block, newTally })
      talking[flows.period[request] as Period].add(own.of.service)
    })
  })
  const isError = ({ statement }: LogCounts) => ERRORS.has(logs.statements[statement]?.level ?? '')
  return [...operations.values()].flatMap((own) => {
    const [before, after] = talking.map((services) => services.has(own.of.service))
    if (!after) return []
    return own.counts(logs.statements, newTally()).filter((counts) => before || isError(counts))
  })
}

/** Levels of which any share matters. */
export const ERRORS: ReadonlySet<string> = new Set(['error', 'fatal'])

/** Whether a request lies within the time of its recording's logs; all do where it has none. */
function requestsCovered(
  flows: FlowSet,
  { offsets }: FlowLogColumns,
): (request: number) => boolean {
  const ranges = new Map<number, [first: number, last: number]>()
  const recordingOf = (request: number) => flows.recordedIn[request]!
  for (let request = 0; request < flows.size; request++) {
    if (offsets[request] === offsets[request + 1]) continue
    const us = flows.arrivalUs(request)
    const [first, last] = ranges.get(recordingOf(request)) ?? [us, us]
    ranges.set(recordingOf(request), [Math.min(first, us), Math.max(last, us)])
  }
  return (request) => {
    const [first, last] = ranges.get(recordingOf(request)) ?? []
    const us = flows.arrivalUs(request)
    return first === undefined || last === undefined || (first <= us && us <= last)
  }
}

interface Done {
  readonly requests: Set<number>
  places: number
  times: number
}

class OperationLogs {
  depth = Number.POSITIVE_INFINITY
  readonly requests = new Set<number>()
  readonly of: Operation
  readonly #sites = new Map<string, Site>()
  readonly #made = new Map<string, Done>()

  constructor(of: Operation) {
    this.of = of
  }

  site(context: string, newTally: () => Tally): Site {
    return getOrInsert(this.#sites, context, () => ({ all: newTally(), did: new Map() }))
  }

  add(
    { did }: Site,
    logged: Uint32Array,
    { request, block, newTally }: { request: number; block: number; newTally: () => Tally },
  ): void {
    const done = new Map<string, number>()
    logged.forEach((statement, i) => {
      for (const one of [`${statement}`, `${statement} ${logged[i + 1] ?? ''}`]) {
        if (!done.has(one)) done.set(one, i)
      }
    })
    for (const [one, place] of done) {
      getOrInsert(did, one, newTally).add(request, block)
      const newDone = (): Done => ({ requests: new Set(), places: 0, times: 0 })
      const made = getOrInsert(this.#made, one, newDone)
      made.requests.add(request)
      made.places += place
      made.times++
    }
  }

  counts(statements: readonly Statement[], none: Tally): LogCounts[] {
    const { service } = this.of
    const sites = [...this.#sites.values()]
    const named = (statement: string) => ({
      service,
      operation: statementName(statements[Number(statement)]!, service),
    })
    return [...this.#made].flatMap(([one, { requests, places, times }]): LogCounts | [] => {
      const [first = '', next] = one.split(' ')
      const isNext = next !== undefined
      const said = isNext ? next : first
      // A statement right after another has its chances at each log of that one.
      const chancesOf = ({ all, did }: Site) => (isNext ? did.get(first) : all) ?? none
      const strata = (of: 'spans' | 'requests') =>
        sites.map((site) => chancesOf(site)[of].choices(site.did.get(one)?.[of]))
      const spans = strata('spans')
      const able = sum(spans, ({ chances }) => sum(chances))
      if (Math.min(times, able - times) < MIN_SEEN) return []
      return {
        kind: isNext ? 'logs next' : 'logs',
        of: this.of,
        previous: isNext ? named(first) : null,
        call: said === '' ? null : named(said),
        statement: said === '' ? -1 : Number(said),
        strata: spans,
        ofRequests: strata('requests'),
        doing: requests,
        able: isNext ? this.#made.get(first)!.requests : this.requests,
        place: places / times,
        depth: this.depth,
      }
    })
  }
}

/** Names a statement by its place, or else by its text, such as `ERROR ContactsServiceImpl#37`. */
function statementName({ level, source, text }: Statement, service: string): string {
  const isPlace = text === '' || /#\d+$/.test(source)
  const name = isPlace ? source : source === '' || source === service ? text : `${source}: ${text}`
  return shortText(`${GRAVE_LEVELS.has(level) ? `${level.toUpperCase()} ` : ''}${name}`, MAX_TEXT)
}
