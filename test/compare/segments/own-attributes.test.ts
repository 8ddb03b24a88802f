import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { call, record } from '../../worlds.ts'

const BATCH_JOB = fileURLToPath(
  new URL('../../../datasets/storage-service/batch-job', import.meta.url),
)

interface Query {
  readonly shard: number
  readonly usual: number
}

/** Requests of `web` to `store`, which asks two shards in turn; each query says which. */
function period(
  seed: number,
  usOf: (query: Query) => number,
  isFailing: (query: Query & { readonly chance: number }) => boolean = () => false,
  size = 600,
) {
  return record({ seed, requests: size, everyUs: 1e5 }, (r) => {
    const query = () => {
      const [shard, usual] = [r.integer(8), r.about(5000, 0.3)]
      const attributes = { 'db.shard': shard, 'db.rows': r.integer(90) }
      const fails = isFailing({ shard, usual, chance: r.next() })
      return call('store SELECT', usOf({ shard, usual }), { attributes, fails })
    }
    const find = call('store find', 1000, {}, [query(), query()])
    return call('web GET /orders', 1000, {}, [find])
  })
}

/** 600 requests of each period, two queries each; one shard of eight takes three times as long after. */
const slowShard = () =>
  compare(
    period(1, ({ usual }) => usual),
    period(2, ({ shard, usual }) => (shard === 5 ? 3 : 1) * usual),
  )

describe('a step that is slower for some values of an attribute of its own spans', () => {
  test('is told by them, with calls inside, the requests that make them, and what each takes more', () => {
    const comparison = slowShard()
    const [finding, ...others] = comparison.findings.findings
    expect(others).toEqual([])
    expect(finding?.title).toMatch(
      /^store: SELECT within find takes \d+(\.\d+)? ms longer per call, only where db.shard = 5$/,
    )
    const { segment, requests, contributionUs } = finding ?? {}
    expect(segment).toMatchObject({ within: 'SELECT', operation: 'find', text: 'db.shard = 5' })
    const traces = comparison.after.where('db.shard = 5')
    expect(requests).toBe(traces.size)
    expect((segment?.inside.after ?? 0) + (segment?.outside.after ?? 0)).toBe(1200)
    expect(segment?.inside.after).toBeGreaterThan(traces.size)
    // Log-normal times have a mean of 5.23 ms, of which two more are added to each call.
    expect(segment?.inside.change).toBeGreaterThan(9000)
    expect(segment?.inside.change).toBeLessThan(12_000)
    expect((contributionUs ?? 0) / (segment?.inside.after ?? 0)).toBeCloseTo(
      segment?.inside.change ?? 0,
      -3,
    )
    expect(finding?.text).toContain(
      `${segment?.inside.after} of 1,200 calls of SELECT meet this condition and account for 100 % of the change`,
    )
  })

  test('is told in the numbers of all requests where a part of many is searched first', {
    tags: 'full',
  }, () => {
    const many = (seed: number, usOf: (query: Query) => number) =>
      period(seed, usOf, () => false, 11_000)
    const [segment, ...others] = compare(
      many(9, ({ usual }) => usual),
      many(10, ({ shard, usual }) => (shard === 5 ? 1.3 : 1) * usual),
    ).segments.segments
    expect(others).toEqual([])
    expect(segment).toMatchObject({ within: 'SELECT', text: 'db.shard = 5' })
    expect((segment?.inside.after ?? 0) + (segment?.outside.after ?? 0)).toBe(22_000)
  })

  test('is told the same of what a page carries along', () => {
    const comparison = slowShard()
    const page = restoreComparison(takeSnapshot(comparison, { latenciesOf: () => true }))
    expect(page.findings.findings.map(({ title }) => title)).toEqual(
      comparison.findings.findings.map(({ title }) => title),
    )
  })

  test('is told of a service that a request asks several times, by the attributes of each visit', () => {
    const visits = (seed: number, moreUs: number) =>
      record({ seed, requests: 400, everyUs: 1e5 }, (r) => {
        const asked = [0, 1, 2, 3].map((shard) => {
          const us = r.about(4000, 0.3) + (shard === 2 ? moreUs : 0)
          const client = { us: [500, 500], kind: 'internal' } as const
          const attributes = { shard: String(shard) }
          return call('shard Query', us, { attributes, beside: true, client })
        })
        return call('geo Near', [500, 500], {}, asked)
      })
    const { findings } = compare(visits(3, 0), visits(4, 6000)).findings
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(
        /^shard: Query itself takes (5\.[5-9]|6\.[0-4])\d ms longer per call, only where shard shard = 2$/,
      ),
    ])
    expect(findings[0]?.segment?.inside.after).toBe(400)
  })
})

test('calls that fail for some values of an attribute of their own are told by them', () => {
  const usOf = ({ usual }: Query) => usual
  const rare = ({ chance }: { chance: number }) => chance < 0.01
  const { findings } = compare(
    period(7, usOf, rare),
    period(8, usOf, ({ shard, chance }) => chance < (shard === 5 ? 0.6 : 0.01)),
  ).findings
  expect(findings[0]?.title).toMatch(
    /^store: SELECT within find fails in .*, only where db.shard = 5$/,
  )
  expect(findings[0]?.text).toMatch(
    /\d+ of 1,200 calls of SELECT meet this condition, \d+ of them fail/,
  )
})

describe('no attribute of the spans of a step is named', () => {
  const shards = (usOf: (query: Query) => number) =>
    compare(
      period(5, ({ usual }) => usual),
      period(6, usOf),
    )

  test('where all of them take longer, by a factor or by the same time', () => {
    for (const usOf of [({ usual }: Query) => 1.5 * usual, ({ usual }: Query) => usual + 3000]) {
      const { findings } = shards(usOf).findings
      expect(findings).toHaveLength(1)
      expect(findings[0]?.segment).toBeUndefined()
    }
  })

  test('where nothing changed', () => {
    expect(shards(({ usual }) => usual).segments.segments).toEqual([])
  })

  test('where it is an amount that grows with what is slow: more calls wait in longer queues', {
    tags: 'full',
  }, async () => {
    const [before, after] = await Promise.all(
      ['before', 'after'].map((name) => loadTraces(`${BATCH_JOB}/${name}.jsonl.gz`)),
    )
    const { findings, segments } = compare(before as SpanTraces, after as SpanTraces)
    expect(segments.segments.map(({ text }) => text).join()).not.toContain('queue.length')
    expect(findings.findings[0]?.title).toContain('uses the same lock.name')
  })
})
