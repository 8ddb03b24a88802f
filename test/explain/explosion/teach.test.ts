import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import {
  type Ignorable,
  NO_KNOWLEDGE,
  readKnowledge,
} from '../../../src/compare/knowledge/knowledge.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { ruleText } from '../../../src/comparison/comparison-options.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { teach } from '../../../src/explain/explosion/teach.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

const YEAR_US = 365 * 24 * 3600e6

/** Requests of a web server, each to one of some hosts of a store, five or six times. */
function period({ hosts, version = 'v1', fromUs = 0, us = (_host: string) => 50 }: PeriodSketch) {
  const spans = Array.from({ length: 120 }, (_, i): SpanSketch[] => {
    const startUs = fromUs + i * 10_000
    const host = hosts[i % hosts.length] as string
    const calls = i % 3 === 0 ? 5 : 6
    const each = us(host) + (i % 7)
    const web = { trace: `t${i}`, id: 'web', startUs, endUs: startUs + 20 + calls * (each + 10) }
    return [
      web,
      ...Array.from({ length: calls }, (_, k) => ({
        trace: `t${i}`,
        id: `call ${k}`,
        parent: 'web',
        service: 'store',
        host,
        version,
        startUs: startUs + 10 + k * (each + 10),
        endUs: startUs + 10 + k * (each + 10) + each,
      })),
    ]
  })
  return makeSpans(spans.flat())
}

interface PeriodSketch {
  readonly hosts: readonly string[]
  readonly version?: string
  readonly fromUs?: number
  readonly us?: (host: string) => number
}

const HOSTS = ['store-1', 'store-2', 'store-3', 'store-4']
const comparison = compare(period({ hosts: HOSTS }), period({ hosts: HOSTS }))

/** Two kinds of request that differ in this alone. */
function pairOf(...parts: readonly Ignorable[]) {
  const numbers = [...Array(comparison.categories.size).keys()]
  const pairs = numbers.flatMap((one) => numbers.slice(one + 1).map((other) => ({ one, other })))
  const found = pairs.find(
    (pair) => teach(comparison, [{ ...pair, same: true }]).ignore.join() === parts.join(),
  )
  if (found === undefined) throw new Error(`no two categories differ in ${parts} alone`)
  return found
}

test('what is learned on one pair of periods serves another, a year later, on other hosts and versions', () => {
  expect(comparison.categories.size).toBe(8)
  const taught = teach(comparison, [{ ...pairOf('omit hosts'), same: true, by: 'Ann' }])
  expect(ruleText(taught)).toBe('Requests are the same if they differ only in hosts.')
  const file = JSON.stringify(taught)
  expect(file).not.toMatch(/store-|v1/)
  const knowledge = readKnowledge(file)
  const [before, after] = [0, 1].map((i) =>
    period({
      hosts: ['db-a', 'db-b', 'db-c', 'db-d', 'db-e'],
      version: `v${i + 7}`,
      fromUs: YEAR_US + i * 1e9,
    }),
  ) as [ReturnType<typeof period>, ReturnType<typeof period>]
  const later = compare(before, after, { knowledge })
  expect(later.categories.size).toBe(2)
  expect(later.with({ knowledge: null }).categories.size).toBe(10)
  const snapshot = JSON.parse(JSON.stringify(takeSnapshot(later)))
  expect(restoreComparison(snapshot).categories.size).toBe(2)
})

test('an answer "not the same" keeps the rule small, and later answers respect earlier ones', () => {
  const { one, other } = pairOf('fold loops')
  const first = teach(comparison, [{ one, other, same: false }])
  expect(first.ignore).toEqual([])
  const second = teach(comparison, [{ ...pairOf('omit hosts'), same: true }], first)
  expect(second.ignore).toEqual(['omit hosts'])
  expect(() => teach(comparison, [{ one, other, same: true }], second)).toThrow(
    /^No rule fits all answers: .*Take back one of the contradicting/,
  )
  expect(() => teach(comparison, [{ one, other: 99, same: true }])).toThrow(
    'There is no category 99. Give numbers from 0 to 7',
  )
})

test('a damaged file is refused by the value and its place', () => {
  expect(() => readKnowledge('{')).toThrow('is no JSON')
  const wrong = { ...NO_KNOWLEDGE, ignore: ['weather'] }
  expect(() => readKnowledge(JSON.stringify(wrong))).toThrow(/knowledge\.ignore\[0\].*weather/)
  const unknown = { ...NO_KNOWLEDGE, hosts: [] }
  expect(() => readKnowledge(JSON.stringify(unknown))).toThrow(
    'only the fields schema, answers, ignore',
  )
})

describeWithShared('TraceWeaver tw2', () => {
  test('one answer leaves at most 10 of 152 categories, and what changed is still found', {
    tags: 'full',
  }, async () => {
    const folder = sharedFile('data/traceweaver-jaeger/tw2_media_load25_vs_150') as string
    const before = await loadTraces(`${folder}/normal.json.gz`)
    const after = await loadTraces(`${folder}/faulty.json.gz`)
    const observed = compare(before, after, { concurrency: 'observed' })
    expect(observed.categories.size).toBe(152)
    const knowledge = teach(observed, [{ one: 6, other: 9, same: true }])
    expect(ruleText(knowledge)).toBe(
      'Requests are the same if they differ only in the order of calls that run at the same time.',
    )
    const taught = observed.with({ knowledge })
    expect(taught.categories.size).toBeLessThanOrEqual(10)
    const ids = ({ findings }: typeof taught) => findings.findings.map(({ id }) => id)
    expect(ids(taught)).toEqual(ids(observed))
    expect(ids(taught)).toHaveLength(6)
    const significant = ({ responseTime, categories }: typeof taught) =>
      Array.from({ length: categories.size }, (_, id) => responseTime.test(id)).filter(
        ({ testable }) => testable,
      ).length
    expect(significant(taught)).toBeGreaterThan(significant(observed))
    expect(categorize(buildFlows([before, after])).size).toBe(taught.categories.size)
  })
})
