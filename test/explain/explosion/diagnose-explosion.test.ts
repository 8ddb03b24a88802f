import { describe, expect, test } from 'vitest'
import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { diagnoseExplosion } from '../../../src/explain/explosion/diagnose-explosion.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { labelWithoutIds, labelWithoutThreads } from '../../../src/flows/label-parts.ts'
import { selectRequests } from '../../../src/flows/select-requests.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { makeGraphs, makeSpans, type SpanSketch } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

/** Requests of a web server that calls a store, as told. */
function requests(
  count: number,
  sketch: (request: number, random: () => number) => Partial<SpanSketch>[],
): SpanSketch[] {
  const source = randomSource(1)
  return Array.from({ length: count }, (_, i) => {
    const calls = sketch(i, () => source.next())
    return [
      { trace: `t${i}`, id: 'web', startUs: 0, endUs: 1000 },
      ...calls.map((call, k) => ({
        trace: `t${i}`,
        id: `call ${k}`,
        parent: 'web',
        service: 'store',
        startUs: 10 + 100 * k,
        endUs: 60 + 100 * k,
        ...call,
      })),
    ]
  }).flat()
}

const diagnose = (spans: readonly SpanSketch[], options = {}, flowOptions = {}) =>
  diagnoseExplosion(categorize(buildFlows(makeSpans(spans), flowOptions)), options)

describe('the cause is named, and its remedy comes first', () => {
  test('hosts', () => {
    const found = diagnose(requests(100, (i) => [{ host: `node${i % 50}` }]))
    expect(found.thin).toBe(true)
    expect(found.causes).toEqual(['host'])
    expect(found.remedies[0]).toMatchObject({ categories: 1, testableShare: 1 })
    expect(found.remedies.find(({ remedy }) => remedy === 'omit hosts')?.categories).toBe(1)
    expect(found.hostClasses?.size).toBe(1)
  })

  test('ids in names', () => {
    const found = diagnose(requests(60, (i) => [{ operation: `GET /user/${i}` }]))
    expect(found.causes).toEqual(['ids in names'])
    expect(found.remedies[0]).toMatchObject({
      remedy: 'strip ids',
      code: 'label: labelWithoutIds',
      categories: 1,
    })
  })

  test('the order of siblings that run side by side', () => {
    const found = diagnose(
      requests(60, (_, random) =>
        Array.from({ length: 4 }, (_, k) => {
          const startUs = 500 * random()
          return { service: `store ${'abcd'[k]}`, startUs, endUs: startUs + 150 }
        }),
      ),
      {},
      { concurrency: 'observed' },
    )
    expect(found.thin).toBe(true)
    expect(found.causes).toEqual(['concurrency order'])
    expect(found.remedies[0]?.categories).toBe(1)
  })

  test('how often something is repeated', () => {
    const found = diagnose(
      requests(60, (i) =>
        Array.from({ length: 2 + (i % 30) }, (_, k) => ({
          startUs: 10 + 30 * k,
          endUs: 30 + 30 * k,
        })),
      ),
      {},
      { concurrency: 'observed' },
    )
    expect(found.causes).toEqual(['loop counts'])
    // 2 to 31 steps: 2–3, 4–7, 8–15, 16–31; the first two have 4 and 8 requests.
    expect(found.remedies.find(({ remedy }) => remedy === 'fold loops')).toMatchObject({
      categories: 4,
      testableShare: 0.8,
      code: "fold: 'log2'",
    })
    expect(found.text()).toContain('Requests with the same work are set apart by loop counts.')
  })

  test('threads of trace points', () => {
    const graphs = Array.from({ length: 80 }, (_, i) => ({
      labels: [`web__t${i % 40}__IN`, `web__t${i % 40}__OUT`],
      edges: [[0, 1]] as const,
    }))
    const found = diagnoseExplosion(categorize(buildFlows(makeGraphs(graphs))))
    expect(found.causes).toEqual(['thread'])
    expect(found.remedies.find(({ remedy }) => remedy === 'omit threads')?.categories).toBe(1)
    expect(found.leftOut).toContainEqual({
      remedy: 'learned order',
      reason: 'already done',
    })
    expect(found.leftOut).toContainEqual({
      remedy: 'no order',
      reason: 'trace points carry their own forks and joins',
    })
  })

  test('two at once, each hidden behind the other, and the remedy for both', () => {
    const found = diagnose(requests(60, (i) => [{ host: `node${i}`, operation: `GET /user/${i}` }]))
    expect(found.causes).toEqual(['host', 'ids in names'])
    expect(found.text()).toContain('set apart by hosts and ids in names.')
    expect(found.remedies[0]?.testableShare).toBe(1)
    expect(found.remedies.find(({ remedy }) => remedy === 'together')).toMatchObject({
      categories: 1,
      code: 'omitHosts: true + label: labelWithoutIds',
    })
  })
})

describe('a remedy', () => {
  test('folds loops after names that hide repetition', () => {
    const spans = requests(60, (i) =>
      Array.from({ length: 1 + (i % 9) }, (_, k) => ({ host: `node${(7 * i + k) % 50}` })),
    )
    const { remedies } = diagnose(spans)
    const categoriesOf = (name: string) =>
      remedies.find(({ remedy }) => remedy === name)?.categories as number
    // 1, 2–3, 4–7, and 8 or 9 calls.
    expect(categoriesOf('together')).toBe(4)
    expect(categoriesOf('fold loops')).toBeGreaterThan(4)
  })

  test('that merges what differs is told by its C²', () => {
    const spans = requests(100, (i) => [{ host: i % 2 === 0 ? 'fast' : 'slow' }]).map((span) =>
      span.id === 'web' && Number(span.trace?.slice(1)) % 2 === 1 ? { ...span, endUs: 9000 } : span,
    )
    const found = diagnose(spans)
    expect(found.sizes.medianC2).toBe(0)
    expect(found.remedies.find(({ remedy }) => remedy === 'omit hosts')?.medianC2).toBeCloseTo(
      16 / 25 / 0.99,
      9,
    )
    expect(found.remedies[0]?.remedy).toBe('no order')
  })
})

describe('the diagnosis', () => {
  test('of requests that differ in their work alone names no cause', () => {
    const found = diagnose(requests(100, (i) => [{ operation: i % 2 === 0 ? 'read' : 'write' }]))
    expect([found.thin, found.causes, found.sizes.categories]).toEqual([false, [], 2])
    expect(found.text()).toContain('explain none of the categories.')
  })

  test('starts its table with things as they are', () => {
    const found = diagnose(requests(100, (i) => [{ host: `node${i % 50}` }]))
    expect(found.table().array('remedy')[0]).toBe('as it is')
    expect(found.table().get('categories', 0)).toBe(50)
  })

  test('says how many categories random hosts would give', () => {
    const found = diagnose(
      requests(100, (i) => [{ host: `node${i % 10}` }]),
      { cluster: { hosts: 10, replicas: 3, requests: 8 } },
    )
    expect(found.expected?.expected).toBeCloseTo(7.961218948, 8)
    expect(found.text()).toContain('would give 7.96 ± 0.196 categories, of 720 possible')
  })

  test('takes a comparison, and halves of one period', () => {
    const spans = makeSpans(requests(100, (i) => [{ host: `node${i % 50}` }]))
    expect(diagnoseExplosion(compare(spans, spans)).causes).toEqual(['host'])
    const flows = buildFlows(spans, { concurrency: 'observed' })
    const halves = selectRequests(flows, {
      before: Array.from({ length: 50 }, (_, i) => 2 * i),
      after: Array.from({ length: 50 }, (_, i) => 2 * i + 1),
    })
    const found = diagnoseExplosion(categorize(halves))
    expect(found.remedies.find(({ remedy }) => remedy === 'learned order')?.categories).toBe(50)
  })

  test('without traces says that their order cannot be learned again', () => {
    const spans = makeSpans(requests(40, (i) => [{ host: `node${i % 20}` }]))
    const restored = restoreComparison(takeSnapshot(compare(spans, spans)))
    expect(diagnoseExplosion(restored).leftOut).toContainEqual({
      remedy: 'no order',
      reason: 'the traces are not at hand',
    })
  })

  test('has no option kluster', () => {
    expect(() => diagnose([], { kluster: {} })).toThrow('There is no option kluster.')
  })
})

test('rules for labels leave everything else as it is', () => {
  const node = { service: 'web', host: 'web-1', operation: 'GET /7', phase: 'call' } as const
  expect(labelWithoutIds(node)).toBe('web-1 GET /# call')
  expect(labelWithoutThreads(node)).toBe('web-1 GET /7 call')
})

test('a remedy says what it gains and loses', () => {
  const period = (hostOf: (request: number) => number) =>
    makeSpans(
      Array.from({ length: 120 }, (_, i) => ({
        trace: `t${i}`,
        id: 'web',
        host: `web-${hostOf(i)}`,
        startUs: 0,
        endUs: (i % 2 ? 100 : 500) + (i % 7),
      })),
    )
  const omitsHosts = (hostOf: (request: number) => number) =>
    diagnoseExplosion(compare(period(hostOf), period(hostOf)))
      .table()
      .objects()
      .find((row) => (row as { remedy: string }).remedy === 'omit hosts')
  expect(omitsHosts((request) => Math.floor(request / 2))).toMatchObject({
    gains: 'testable requests and C²',
    loses: '',
  })
  expect(omitsHosts((request) => request % 2)).toMatchObject({ gains: '', loses: 'C²' })
})

describeWithShared('public data', () => {
  test('tw2: concurrency order is the cause, and learning it leaves a handful', {
    tags: 'full',
  }, async () => {
    const folder = sharedFile('data/traceweaver-jaeger/tw2_media_load25_vs_150') as string
    const traces = [
      await loadTraces(`${folder}/normal.json.gz`),
      await loadTraces(`${folder}/faulty.json.gz`),
    ] as const
    const found = diagnoseExplosion(categorize(buildFlows(traces, { concurrency: 'observed' })))
    expect(found.thin).toBe(true)
    expect(found.sizes.categories).toBeGreaterThan(100)
    expect(found.causes).toEqual(['concurrency order'])
    expect(found.remedies[0]).toMatchObject({ remedy: 'learned order', categories: 5 })
    expect(found.remedies[0]?.testableShare).toBe(1)
  })

  test('tb3: hosts and the number of blocks are, and nothing but both together helps', {
    tags: ['full'],
  }, async () => {
    const folder = sharedFile('data/tracebench-hdfs/w_netdelay_20ms_on_25_of_50_datanodes')
    const traces = await readTracebench(folder as string)
    const found = diagnoseExplosion(categorize(buildFlows(traces)))
    expect(found.causes).toEqual(['host', 'loop counts'])
    expect(found.sizes.categories).toBe(60)
  })
})
