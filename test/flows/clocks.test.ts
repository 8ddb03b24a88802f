import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import type { FlowSet } from '../../src/flows/flow-set.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

//  web   |== root ===============================|   its own clock
//  web     |== client of a ===| |== client of b =|
//  a          |== server ===|                        ahead of true time by offset.a(t)
//  a            |client of c|
//  c             |server |
//  b                             |= server =|

type Clock = (timeUs: number) => number
const clocks: Record<string, Clock> = {}

interface Simulation {
  readonly requests?: number
  readonly fromUs?: number
  readonly everyUs?: number
  /** By host: how far its clock is ahead. */
  readonly offsets?: typeof clocks
  /** Share of the time on the network that the way there takes. */
  readonly there?: number
  /** Time that b works. */
  readonly workUs?: number
  readonly seed?: number
  readonly kinds?: boolean
  readonly instances?: boolean
}

/** Values in [0, 1), always the same (Mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

function simulate({
  requests = 400,
  fromUs = 0,
  everyUs = 200_000,
  offsets = {},
  there = 0.5,
  workUs = 3000,
  seed = 1,
  kinds = true,
  instances = false,
}: Simulation = {}): SpanTraces {
  const random = randomFrom(seed)
  const sketches: SpanSketch[] = []
  for (let i = 0; i < requests; i++) {
    const trace = `t${fromUs}-${String(i).padStart(6, '0')}`
    const instance = instances ? `a-${i % 3}` : 'a'
    const span = (sketch: Omit<SpanSketch, 'trace'> & { readonly host: string }) => {
      const aheadUs = Math.round(offsets[sketch.host]?.(sketch.startUs) ?? 0)
      const { host, kind = 'internal', ...rest } = sketch
      sketches.push({
        ...rest,
        trace,
        startUs: sketch.startUs + aheadUs,
        endUs: sketch.endUs + aheadUs,
        ...(kinds && { kind }),
        ...(instances && host.startsWith('a-')
          ? { attributes: { 'service.instance.id': host } }
          : { host }),
      })
    }
    const networkUs = () => Math.round(200 - 300 * Math.log(1 - random()))
    /** Adds a client span and its server span, and returns when the client's is over. */
    const call = (
      [caller, parent, callee, host]: readonly [string, string, string, string],
      startUs: number,
      work: (startUs: number) => number,
    ): number => {
      const [way, id] = [networkUs(), `${parent}-${callee}`]
      const begunUs = startUs + Math.round(way * there)
      const doneUs = work(begunUs)
      const endUs = doneUs + Math.round(way * (1 - there))
      const service = callee
      const callerService = caller.startsWith('a') ? 'a' : caller
      const client = { id, parent, service: callerService, operation: `call ${callee}` } as const
      span({ ...client, host: caller, kind: 'client', startUs, endUs })
      const server = { id: `${id}-s`, parent: id, service, operation: 'serve', host } as const
      span({ ...server, kind: 'server', startUs: begunUs, endUs: doneUs })
      return endUs
    }
    const startUs = fromUs + i * everyUs + Math.round(1000 * random()) + 1
    const worksUs = (mean: number) => Math.round(mean * (0.5 + random()))
    const a = call(['web', 'r', 'a', instance], startUs + 50, (begunUs) => {
      const inner = [instance, 'r-a-s', 'c', 'c'] as const
      return call(inner, begunUs + 30, (at) => at + worksUs(500)) + worksUs(300)
    })
    const b = call(['web', 'r', 'b', 'b'], a + 40, (begunUs) => begunUs + worksUs(workUs))
    const root = { id: 'r', service: 'web', operation: 'GET /', host: 'web' } as const
    span({ ...root, kind: 'server', startUs, endUs: b + 20 })
  }
  return makeSpans(sketches)
}

/** How far `clock` is ahead of `reference`, by what was found and in truth, in each stretch. */
function errorsOf(flows: FlowSet, offsets: typeof clocks) {
  return (flows.clocks?.offsets ?? []).map((found) => {
    const truth = (timeUs: number) =>
      (offsets[found.clock]?.(timeUs) ?? 0) - (offsets[found.reference]?.(timeUs) ?? 0)
    const [from, until] = [found.from, found.until].map((text) => 1000 * Date.parse(text))
    const middleUs = ((from as number) + (until as number)) / 2
    return {
      ...found,
      errorUs: Math.abs(found.offsetUs - truth(middleUs)),
      isBounded: found.lowUs <= truth(middleUs) + 1 && truth(middleUs) - 1 <= found.highUs,
    }
  })
}

const step = (atUs: number, beforeUs: number, afterUs: number) => (timeUs: number) =>
  timeUs < atUs ? beforeUs : afterUs

describe('offsets of clocks against the truth', () => {
  type Case = Pick<Simulation, 'there' | 'requests' | 'everyUs'>
  const cases: Record<string, Case & { offsets: typeof clocks; stretches?: number }> = {
    'one constant offset': { offsets: { a: () => 5000 } },
    'a chain of hosts': { offsets: { a: () => -3000, c: () => 70_000, b: () => 1e9 } },
    'an hour behind': { offsets: { b: () => -3.6e9 } },
    'drifting by 50 ppm': { offsets: { a: (timeUs) => 50e-6 * timeUs - 1000 } },
    'two clocks that drift apart': {
      offsets: { a: (timeUs) => 50e-6 * timeUs, c: (timeUs) => 9000 - 50e-6 * timeUs },
    },
    'rare calls of clocks that drift apart by 150 ppm': {
      offsets: { a: (timeUs) => 90e-6 * timeUs, c: (timeUs) => 9000 - 60e-6 * timeUs },
      requests: 72,
      everyUs: 5e6,
    },
    'a step by NTP': { offsets: { b: step(37e6, 20_000, -300) }, stretches: 2 },
    'a network that takes 80 % of the time there': { offsets: { a: () => 2500 }, there: 0.8 },
    'a network that takes 20 % of the time there': { offsets: { a: () => -2500 }, there: 0.2 },
  }

  test.each(Object.entries(cases))('%s', (_, { stretches = 1, ...simulation }) => {
    const { offsets } = simulation
    for (const seed of [1, 2, 3]) {
      const flows = buildFlows(simulate({ ...simulation, seed }))
      const errors = errorsOf(flows, offsets)
      for (const { residualUs, errorUs, isBounded } of errors) {
        expect(isBounded).toBe(true)
        expect(errorUs).toBeLessThanOrEqual(residualUs + 1)
        expect(residualUs).toBeLessThan(2000)
      }
      const moved = errors.filter(({ applied }) => applied)
      expect(moved.length).toBeGreaterThan(0)
      for (const { clock } of moved) {
        expect(errors.filter((one) => one.clock === clock).length).toBeLessThanOrEqual(
          2 * stretches,
        )
      }
      expect(flows.report.counts).toMatchObject({ outsideParent: 0, asynchronousSpans: 0 })
      expect(flows.shapes.size).toBe(1)
    }
  })

  test('instances of one service have clocks of their own where no host is known', () => {
    const offsets = { 'a-0': () => 5000, 'a-1': () => -8000 }
    const errors = errorsOf(buildFlows(simulate({ offsets, instances: true })), offsets)
    const applied = errors.filter(({ applied }) => applied)
    expect(new Set(applied.flatMap(({ clock, reference }) => [clock, reference]))).toEqual(
      new Set(['web', 'a-0', 'a-1', 'c']),
    )
    for (const { residualUs, errorUs } of errors) {
      expect(errorUs).toBeLessThanOrEqual(residualUs + 1)
    }
  })

  test('both periods are one timeline: an offset that stays the same is one', () => {
    const offsets = { b: () => 4000 }
    const periods = [simulate({ offsets }), simulate({ offsets, fromUs: 3.6e9, seed: 2 })] as const
    const { clocks } = buildFlows([periods[0], periods[1]])
    expect(clocks?.offsets.filter(({ clock }) => clock === 'b')).toHaveLength(1)
    expect(clocks?.applied).toMatchObject([{ clock: 'b', reference: 'web', calls: 800 }])
  })

  test.each([
    [20, 12],
    [9, 6],
    [13, 22],
    [40, 7],
  ])('a clock that moves between periods an hour apart: %i calls, then %i', (first, second) => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      for (const movedUs of [-20_000, 20_000]) {
        const { clocks } = buildFlows([
          simulate({ requests: first, seed }),
          simulate({
            requests: second,
            fromUs: 3.6e9,
            seed: seed + 10,
            offsets: { b: () => movedUs },
          }),
        ])
        const errors = (clocks?.applied ?? []).map(({ clock, calls, offsetUs }) => {
          return [clock, calls, Math.abs(offsetUs - movedUs) < 2000]
        })
        expect(errors).toEqual([['b', second, true]])
      }
    }
  })

  test('the table has a row a pair', () => {
    const { clocks } = buildFlows(simulate({ offsets: { a: () => 5000 } }))
    const rows = clocks?.table().orderby('clock').objects()
    expect(rows).toMatchObject([
      {
        clock: 'a',
        reference: 'web',
        calls: 400,
        outside: 400,
        outsideCorrected: 0,
        applied: true,
      },
      { clock: 'b', reference: 'web', calls: 400, outside: 0, applied: false },
      { clock: 'c', reference: 'a', calls: 400, applied: true },
    ])
  })
})

/** What a comparison says, apart from times of single edges. */
function told(before: SpanTraces, after: SpanTraces) {
  const comparison = compare(before, after)
  const { categories, ranking, findings } = comparison
  return {
    categories: Array.from(categories.categoryOf),
    ranking: ranking.mutations.map(({ category, kind, contributionUs }) => [
      category,
      kind,
      contributionUs,
    ]),
    findings: findings.findings.map(({ title, where, contributionUs }) => [
      title,
      where,
      contributionUs,
    ]),
    warnings: comparison.warnings().map(({ code }) => code),
  }
}

describe('clocks that disagree change no result', () => {
  const period = (offsets: typeof clocks, isAfter: boolean) =>
    simulate({
      requests: 60,
      offsets,
      ...(isAfter && { fromUs: 6e8, seed: 2, workUs: 6000 }),
    })
  const expected = told(period({}, false), period({}, true))

  test('there is a finding', () => {
    expect(expected.findings).toHaveLength(1)
    expect(expected.warnings).not.toContain('clock-skew')
  })

  test('any constant offset of any host, in either period or both', () => {
    const offset = fc.integer({ min: -1e7, max: 1e7 })
    fc.assert(
      fc.property(
        fc.record({ a: offset, b: offset, c: offset }),
        fc.constantFrom('before', 'after', 'both'),
        (sizes, when) => {
          const offsets = Object.fromEntries(
            Object.entries(sizes).map(([host, us]) => [host, () => us]),
          )
          const before = period(when === 'after' ? {} : offsets, false)
          const after = period(when === 'before' ? {} : offsets, true)
          expect(told(before, after)).toEqual(expected)
        },
      ),
      { numRuns: 5 },
    )
  })

  test('nor does a page, which has the flows only', () => {
    const offsets = { a: () => 4000, b: () => -9000 }
    const comparison = compare(period(offsets, false), period(offsets, true))
    const parts = { ids: true, arrivals: true, latenciesOf: () => true }
    const restored = restoreComparison(takeSnapshot(comparison, parts))
    expect(restored.options).toEqual(comparison.options)
    expect(restored.ranking.mutations).toEqual(comparison.ranking.mutations)
    expect(restored.findings.findings).toEqual(comparison.findings.findings)
  })

  test('without kinds of spans as well, where a call is the only child of its caller', () => {
    const offsets = { b: () => 5000, c: () => -7000 }
    const flows = buildFlows(simulate({ offsets, kinds: false }))
    expect(flows.shapes.size).toBe(1)
    expect(flows.clocks?.applied).toHaveLength(2)
  })
})

/** Requests of web, which records no clients, to two services in turn; the clock of one may be ahead. */
function inTurn(seed: number, { order = ['a', 'b'], aheadUs = 0, fromUs = 0 } = {}) {
  const random = randomFrom(seed)
  const spread = (us: number) => us * (0.7 + 0.6 * random())
  const spans = Array.from({ length: 200 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${seed}-${i}`, fromUs + i * 1e6]
    let atUs = startUs + spread(4000)
    const called = order.map((service): SpanSketch => {
      const from = atUs + spread(300)
      const endUs = from + spread(service === 'a' ? 3000 : 5000)
      atUs = endUs + spread(300)
      const us = service === 'a' ? aheadUs : 0
      const times = { startUs: from + us, endUs: endUs + us }
      return { trace, id: service, parent: 'web', kind: 'server', ...times }
    })
    return [{ trace, id: 'web', kind: 'server', startUs, endUs: atUs + spread(3000) }, ...called]
  })
  return makeSpans(spans.flat())
}

describe('a clock that moves between the periods within the callers of its calls', () => {
  const LATER = { fromUs: 3.6e9 }

  test.each([2500, -2500])('by %i µs changes no result but is told', (aheadUs) => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const comparison = compare(inTurn(seed), inTurn(seed + 10, { ...LATER, aheadUs }))
      expect(comparison.findings.findings.map(({ title }) => title)).toEqual([])
      const { clock, byUs } = comparison.flows.clocks!.moved!
      expect(clock).toBe('a')
      expect(Math.abs(byUs / aheadUs - 1)).toBeLessThan(0.1)
      const told = comparison.warnings().find(({ code }) => code === 'clock-skew')
      const [moved, begins] = aheadUs > 0 ? ['forward', 'later'] : ['back', 'earlier']
      expect(told?.finding).toMatch(
        new RegExp(
          `^Between the periods, the clock of a moved ${moved} by 2\\.\\d+ ms: calls to it begin 2\\.\\d+ ms ${begins} and end`,
        ),
      )
    }
  })

  test('is not what calls in another order look like', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const comparison = compare(inTurn(seed), inTurn(seed + 10, { ...LATER, order: ['b', 'a'] }))
      expect(comparison.flows.clocks?.moved).toBeNull()
      expect(comparison.findings.findings[0]?.title).toMatch(/^web: call calls .* before /)
    }
  })
})

describe('what is not a clock', () => {
  test('traces without skew stay as they are, to the bit', () => {
    const traces = simulate()
    const aligned = buildFlows(traces)
    const recorded = buildFlows(traces, { clocks: 'recorded' })
    expect(aligned.clocks?.applied).toEqual([])
    expect(aligned.latencyUs).toEqual(recorded.latencyUs)
    expect(aligned.shapeOf).toEqual(recorded.shapeOf)
  })

  test('a skew that no call shows is left alone', () => {
    const { clocks } = buildFlows(simulate({ offsets: { b: () => 60 } }))
    expect(clocks?.applied).toEqual([])
  })

  const calls = (count: number, child: (i: number) => Partial<SpanSketch>) =>
    makeSpans(
      Array.from({ length: count }, (_, i): SpanSketch[] => [
        { trace: `t${i}`, id: 'r', host: 'h', startUs: 1e5 * i + 1, endUs: 1e5 * i + 5001 },
        {
          trace: `t${i}`,
          id: 'c',
          parent: 'r',
          host: 'g',
          startUs: 1e5 * i + 4001,
          endUs: 1e5 * i + 5501,
          ...child(i),
        },
      ]).flat(),
    )
  const appliedTo = (traces: SpanTraces) => buildFlows(traces).clocks?.applied.length

  test('a callee that outlives a caller with kinds, which is not the call itself, is asynchronous', () => {
    expect(appliedTo(calls(50, () => ({ kind: 'internal' })))).toBe(1)
    const servers = calls(50, () => ({ kind: 'server' }))
    servers.spans.kind.fill(1)
    expect(appliedTo(servers)).toBe(0)
    expect(buildFlows(servers).report.counts.asynchronousSpans).toBe(50)
  })

  test('callees that take longer than their callers are not waited for', () => {
    expect(appliedTo(calls(50, (i) => ({ endUs: 1e5 * i + (i % 5 ? 5501 : 9e4) })))).toBe(0)
  })

  test('four calls that end late are too few to tell', () => {
    expect(appliedTo(calls(4, () => ({})))).toBe(0)
    expect(appliedTo(calls(5, () => ({})))).toBe(1)
  })

  test('one of 20 calls that ends late is not a clock', () => {
    expect(appliedTo(calls(200, (i) => (i % 20 ? { endUs: 1e5 * i + 4901 } : {})))).toBe(0)
  })

  test('a child that only follows from its parent may end when it likes', () => {
    expect(appliedTo(calls(50, () => ({ followsFrom: true })))).toBe(0)
  })
})
