import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { CriticalPathFinder } from '../../src/calls/critical-path.ts'
import { spanTimes } from '../../src/calls/span-times.ts'
import { allVisits, type ShapeVisits, type Visit } from '../../src/calls/visits.ts'
import { accountOf } from '../../src/comparison/account.ts'
import { findCallingContexts } from '../../src/explain/calling-contexts/find-calling-contexts.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { BEFORE, type FlowSet } from '../../src/flows/flow-set.ts'
import { areFromSpans } from '../../src/flows/span-tree.ts'
import type { TraceSet } from '../../src/traces/trace-set.ts'
import { ganttCalls } from '../../src/views/widgets/gantt/gantt-model.ts'
import { loadRecording } from '../load-recording.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

const DATASETS = fileURLToPath(new URL('../../datasets/', import.meta.url))
/** Of so many requests, the account is asked for each one by itself. */
const ACCOUNTS = 20

/** The files of two periods in a folder, or the folder itself where it is one recording. */
function periodsOf(folder: string): string[] {
  const files = readdirSync(folder)
  if (files.includes('event.csv.gz')) return [folder]
  const isOf = (names: string) => (file: string) =>
    new RegExp(`^(${names})\\.(jsonl?|csv|dot)\\.gz$`).test(file)
  return ['before|normal|normal_trace', 'after|faulty|faulty_trace'].flatMap((names) =>
    files.filter(isOf(names)).map((file) => join(folder, file)),
  )
}

/** Folders of recordings below one, by their paths from there. */
function recordingsBelow(folder: string | undefined, from = folder): string[] {
  if (folder === undefined || from === undefined) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .flatMap(({ name }) => {
      const path = join(folder, name)
      return periodsOf(path).length > 0 ? relative(from, path) : recordingsBelow(path, from)
    })
}

async function flowsOf(folder: string): Promise<FlowSet> {
  const traces = await Promise.all(periodsOf(folder).map((file) => loadRecording(file)))
  const [before, after] = traces as [TraceSet, TraceSet?]
  return buildFlows(after === undefined ? before : [before, after])
}

type Sums = Map<string, number>

function sumsBy<Of>(all: Iterable<Of>, read: (one: Of, i: number) => readonly [string, number]) {
  const sums: Sums = new Map()
  let i = 0
  for (const one of all) {
    const [name, value] = read(one, i++)
    if (value !== 0) sums.set(name, (sums.get(name) ?? 0) + value)
  }
  return sums
}

const nsOf = (us: number) => Math.round(us * 1000)

/** Names whose sums differ by more than a part of a nanosecond. */
function differences(one: Sums, other: Sums, mostNs = 0): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter(
    (name) => !(Math.abs((one.get(name) ?? 0) - (other.get(name) ?? 0)) <= mostNs),
  )
}

/** Expects path, Gantt, calling contexts and account to tell one time of the same step of a request. */
function expectOnePath(flows: FlowSet): void {
  const { size, shapeOf, period, responseTimeUs } = flows
  const finder = new CriticalPathFinder(flows)
  const isOfSpans = areFromSpans(flows)
  const every = Math.ceil(size / ACCOUNTS)
  const wrong: string[] = []
  const drawnIn: [Sums, Sums] = [new Map(), new Map()]
  for (let request = 0; request < size; request++) {
    const wholeNs = nsOf(responseTimeUs[request] as number)
    const expectSame = (who: string, one: Sums, other: Sums) => {
      for (const name of differences(one, other)) wrong.push(`${who}, ${request}: ${name}`)
    }
    const expectWhole = (who: string, ns: Iterable<number>) =>
      expectSame(who, new Map([['all of it', sum(ns)]]), new Map([['all of it', wholeNs]]))
    expectWhole(
      'path',
      finder.path(request).map(({ us }) => nsOf(us)),
    )
    const drawn = sumsBy(ganttCalls(flows, [request]), ({ service, name, critical }) => [
      `${service} ${name}`,
      sum(critical, ([from, to]) => nsOf(to - from)),
    ])
    expectWhole('gantt', drawn.values())
    const ofPeriod = drawnIn[period[request] === BEFORE ? 0 : 1]
    for (const [name, ns] of drawn) {
      ofPeriod.set(name, (ofPeriod.get(name) ?? 0) + flows.countOf(request) * ns)
    }
    if (!isOfSpans) continue
    const onPathNs = spanTimes(flows).onPath(request)
    const spans = allVisits(flows).get(shapeOf[request] as number) as ShapeVisits
    expectWhole('spans', onPathNs)
    const bySpan = sumsBy(onPathNs, (ns, span) => [
      `${spans.services[span]} ${spans.operations[span]}`,
      ns,
    ])
    expectSame('gantt', drawn, bySpan)
    // The account is of whole requests.
    if (request % every > 0 || flows.isPart(request)) continue
    const { steps } = accountOf({ flows, options: { omitHosts: false } }, (one) => one === request)
    const told = sumsBy(steps, ({ kind, service, operation, beforeUs, afterUs }) => [
      `${kind} ${service} ${operation}`,
      nsOf(beforeUs + afterUs),
    ])
    const byRole = sumsBy(onPathNs, (ns, span) => {
      const { service, calls } = spans.visitOf[span] as Visit
      const call = calls.find((one) => one.span === span && one.called[0] !== span)
      const operation = spans.operations[call?.called[0] ?? span]
      return [call ? `call ${call.service} ${operation}` : `work ${service} ${operation}`, ns]
    })
    expectSame('account', told, byRole)
  }
  const { contexts } = findCallingContexts(flows)
  drawnIn.forEach((drawn, at) => {
    const inContexts = sumsBy(contexts, ({ service, name, before, after }) => [
      `${service} ${name}`,
      1000 * (at === 0 ? before : after).selfUs,
    ])
    for (const name of differences(drawn, inContexts, 0.01 * size)) wrong.push(`contexts: ${name}`)
  })
  expect(wrong).toEqual([])
}

describe('the times on the path of a request add up to its response time, whoever tells them', () => {
  test.each(['sample'])('in %s', async (name) => {
    expectOnePath(await flowsOf(join(DATASETS, name)))
  })

  test.each(recordingsBelow(DATASETS))('in all of %s', { tags: 'full' }, async (name) => {
    expectOnePath(await flowsOf(join(DATASETS, name)))
  })
})

describeWithShared('the same of public data', () => {
  const folder = sharedFile('data')
  const small = ['shapleyiq/siq-order500', 'tracebench-hdfs/rpc_normal']
  test.each(small)('in %s', async (name) => {
    expectOnePath(await flowsOf(join(folder as string, name)))
  })

  test.each(recordingsBelow(folder))('in all of %s', { tags: 'full' }, async (name) => {
    expectOnePath(await flowsOf(join(folder as string, name)))
  })
})
