import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import { NO_PARENT, PARENT_MISSING } from '../../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

interface Meta {
  readonly traces: number
  readonly events: number
  readonly task_ms: { readonly p50: number; readonly mean: number }
  readonly op_median_ms: Readonly<Record<string, number>>
}

const FOLDER = sharedFile('data/tracebench-hdfs')
const RUNS =
  FOLDER === undefined ? [] : readdirSync(FOLDER).filter((name) => /^(w|rpc)_/.test(name))

const load = (run: string) => readTracebench(`${FOLDER}/${run}`)

/** What an attribute is in the spans of one operation. */
function valuesOf(set: SpanTraces, operation: string, key: string): Set<unknown> {
  const code = set.operations.find(operation)
  const rows = Array.from(set.spans.operation.keys())
  const own = rows.filter((span) => set.spans.operation[span] === code)
  return new Set(
    own.map((span) => set.attributes.get(span, key)).filter((value) => value !== undefined),
  )
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

describeWithShared('runs of TraceBench', () => {
  test.each(RUNS)('%s has the traces, events and durations its description counts', async (run) => {
    const meta = JSON.parse(readFileSync(`${FOLDER}/${run}/meta.json`, 'utf8')) as Meta
    const set = await load(run)
    const { spans, operations } = set
    expect({ traces: set.size, events: spans.parent.length }).toEqual({
      traces: meta.traces,
      events: meta.events,
    })
    expect(spans.parent.filter((parent) => parent === NO_PARENT).length).toBe(meta.traces)
    expect(spans.parent.includes(PARENT_MISSING)).toBe(false)
    expect(spans.durationUs.every((duration) => duration >= 0)).toBe(true)
    expect(set.quality().skippedTraces).toBe(0)
    expect([...set.quality().counts.keys()].filter((code) => !KNOWN.includes(code))).toEqual([])
    for (const [operation, medianMs] of Object.entries(meta.op_median_ms)) {
      const code = operations.find(operation)
      const own = spans.durationUs.filter((_, span) => spans.operation[span] === code)
      expect(median([...own]) / 1e3, operation).toBeCloseTo(medianMs, 0)
    }
  })

  test('every span of a server lies within a client that takes longer, by half of what is left', async () => {
    const { spans, operations } = await load('rpc_normal')
    spans.parent.forEach((parent, span) => {
      if (parent < 0 || spans.host[span] === spans.host[parent]) return
      const name = operations.value(spans.operation[span] ?? 0)
      expect(operations.value(spans.operation[parent] ?? 0)).toBe(`RPC:${name}`)
      const leadUs = (spans.startUs[span] ?? 0) - (spans.startUs[parent] ?? 0)
      const restUs = (spans.durationUs[parent] ?? 0) - (spans.durationUs[span] ?? 0)
      expect(leadUs).toBeCloseTo(restUs / 2, 1)
      expect(leadUs).toBeGreaterThan(0)
    })
  })

  test('a pipeline of three datanodes is a chain of calls; hosts and what they said are parameters', async () => {
    const set = await load('w_normal_a')
    const { spans, operations, hosts } = set
    const name = (span: number) => operations.value(spans.operation[span] ?? 0)
    const last = spans.parent.findLastIndex(
      (parent, span) => parent >= 0 && name(span) === 'receiveBlock',
    )
    const chain: string[] = []
    for (let span = last; span >= 0; span = spans.parent[span] ?? NO_PARENT) chain.push(name(span))
    expect(chain.slice(chain.indexOf('OP: send block'))).toEqual([
      'OP: send block',
      'fs -copyFromLocal',
    ])
    expect(hosts.size).toBe(81)
    expect([...hosts.values].filter((host) => host.startsWith('datanode')).length).toBe(50)
    expect(valuesOf(set, 'OP: connect next Datanode', 'target').size).toBe(50)
    expect([...valuesOf(set, 'nextBlockOutputStream', 'blocks')].length).toBe(18)
  })

  test('killed datanodes have no spans, and are the bad links', async () => {
    const set = await load('w_kill_10_of_50_datanodes')
    expect(set.hosts.values.filter((host) => host.startsWith('datanode')).length).toBe(40)
    const links = valuesOf(set, 'createBlockOutputStream', 'bad link')
    expect(links.size).toBe(10)
    expect([...links].every((link) => String(link).startsWith('10.107.100.'))).toBe(true)
  })

  test('of the hosts that connect to the next, the slow ones are datanode001 to 025', async () => {
    const set = await load('w_netdelay_20ms_on_25_of_50_datanodes')
    const { spans, hosts } = set
    const connect = set.operations.find('OP: connect next Datanode')
    const times = new Map<string, number[]>()
    spans.operation.forEach((operation, span) => {
      if (operation !== connect) return
      const host = hosts.value(spans.host[span] ?? 0)
      expect(set.attributes.get(span, 'host')).toBe(host)
      times.set(host, [...(times.get(host) ?? []), (spans.durationUs[span] ?? 0) / 1e3])
    })
    const slow = [...times].filter(([, own]) => median(own) >= 81).map(([host]) => host)
    expect(slow.toSorted()).toEqual(
      Array.from({ length: 25 }, (_, i) => `datanode${String(i + 1).padStart(3, '0')}`),
    )
    expect(times.size).toBe(50)
  })

  test('requests come within the quarter of an hour of their run', async () => {
    const set = await load('w_normal_a')
    expect(set.epochNs / 1_000_000_000n).toBe(BigInt(Date.UTC(2013, 10, 3, 15, 29, 35)) / 1000n)
    const starts = set.spans.startUs.filter((_, span) => set.spans.parent[span] === NO_PARENT)
    expect(Math.max(...starts)).toBeLessThan(15 * 60e6)
  })
})

const KNOWN = ['ambiguous-father', 'clock-skew']
