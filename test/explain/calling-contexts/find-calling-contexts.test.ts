import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CallingContexts,
  findCallingContexts,
} from '../../../src/explain/calling-contexts/find-calling-contexts.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet } from '../../../src/flows/flow-set.ts'
import { compareShops, shopPeriod } from '../../compare/findings/fixture.ts'
import {
  chains,
  type GraphSketch,
  makeGraphs,
  makeSpans,
  type SpanSketch,
} from '../../make-traces.ts'
import { recordedCase } from '../../recorded.ts'

function sumOfResponseTimes({ responseTimeUs, period }: FlowSet, wanted: number): number {
  return responseTimeUs.reduce((sum, us, i) => sum + (period[i] === wanted ? us : 0), 0)
}

/** `[name, requests, calls, self, total]` of the first period. */
function outline({ contexts }: CallingContexts) {
  return contexts.map(({ depth, name, before: { requests, calls, selfUs, totalUs } }) => [
    '  '.repeat(depth) + name,
    requests,
    calls,
    selfUs,
    totalUs,
  ])
}

describe('calling contexts', () => {
  test('are told apart by who calls', () => {
    const flows = buildFlows(
      makeSpans([
        { id: 'web', operation: 'GET', startUs: 0, endUs: 100 },
        { id: 'db', parent: 'web', operation: 'READ', startUs: 10, endUs: 30 },
        { id: 'cache', parent: 'web', operation: 'FILL', startUs: 40, endUs: 90 },
        { id: 'db 2', service: 'db', parent: 'cache', operation: 'READ', startUs: 50, endUs: 60 },
        { id: 'db 3', service: 'db', parent: 'cache', operation: 'READ', startUs: 70, endUs: 85 },
      ]),
    )
    expect(outline(findCallingContexts(flows))).toEqual([
      ['GET', 1, 1, 30, 100],
      ['  READ', 1, 1, 20, 20],
      ['  FILL', 1, 1, 25, 50],
      ['    READ', 1, 2, 25, 25],
    ])
  })

  test('get no time for what runs beside something longer or after the reply', () => {
    const flows = buildFlows(
      makeSpans([
        { id: 'web', startUs: 0, endUs: 100 },
        { id: 'short', parent: 'web', operation: 'short', startUs: 10, endUs: 30 },
        { id: 'long', parent: 'web', operation: 'long', startUs: 10, endUs: 60 },
        {
          id: 'late',
          parent: 'web',
          operation: 'late',
          startUs: 70,
          endUs: 400,
          followsFrom: true,
        },
      ]),
    )
    expect(outline(findCallingContexts(flows))).toEqual([
      ['call', 1, 1, 50, 100],
      ['  short', 1, 1, 0, 0],
      ['  long', 1, 1, 50, 50],
      ['  late', 1, 1, 0, 0],
    ])
  })

  test('add up to the sum of response times, period by period', async () => {
    const { flows } = await recordedCase('mds-prefetch')
    const found = findCallingContexts(flows)
    for (const period of [BEFORE, AFTER] as const) {
      const expected = sumOfResponseTimes(flows, period)
      expect(found.totalUs(period) / expected).toBeCloseTo(1, 9)
      const roots = found.contexts.filter(({ parent }) => parent < 0)
      const part = period === BEFORE ? 'before' : 'after'
      const whole = roots.reduce((sum, root) => sum + root[part].totalUs, 0)
      expect(whole / expected).toBeCloseTo(1, 9)
      const requests = roots.reduce((sum, root) => sum + root[part].totalRequests, 0)
      expect(requests).toBeCloseTo(found.requests[period], 6)
    }
  })

  test('add up for any tree of spans', () => {
    const span = fc.record({
      parent: fc.nat(),
      startUs: fc.integer({ min: 0, max: 1000 }),
      lengthUs: fc.integer({ min: 0, max: 500 }),
      followsFrom: fc.boolean(),
      name: fc.constantFrom('a', 'b', 'c'),
    })
    fc.assert(
      fc.property(fc.array(span, { maxLength: 12 }), (spans) => {
        const sketches: SpanSketch[] = spans.map(({ parent, startUs, lengthUs, ...rest }, i) => ({
          id: String(i + 1),
          parent: String(parent % (i + 1)),
          service: rest.name,
          startUs,
          endUs: startUs + lengthUs,
          followsFrom: rest.followsFrom,
        }))
        const flows = buildFlows(makeSpans([{ id: '0', startUs: 0, endUs: 900 }, ...sketches]))
        const found = findCallingContexts(flows)
        expect(found.totalUs(BEFORE)).toBeCloseTo(sumOfResponseTimes(flows, BEFORE), 6)
        const calls = found.contexts.reduce((sum, context) => sum + context.before.calls, 0)
        expect(calls).toBe(sketches.length + 1)
      }),
    )
  })

  test('give the request what its trace points do not account for', () => {
    const [graph] = chains(['m__t__A', 'm__t__B'], [100])
    const flows = buildFlows(makeGraphs([{ ...(graph as GraphSketch), responseTimeUs: 130 }]))
    expect(outline(findCallingContexts(flows))).toEqual([
      ['A', 1, 1, 30, 130],
      ['  A → B', 1, 1, 100, 100],
    ])
  })

  test('count a request that took no time', () => {
    const flows = buildFlows(makeGraphs(chains(['m__t__A', 'm__t__B'], [0, 100])))
    const found = findCallingContexts(flows)
    expect(found.contexts[0]?.before).toMatchObject({ totalRequests: 2, totalUs: 100 })
  })

  test('of one period say nothing of the other', () => {
    const found = findCallingContexts(buildFlows(shopPeriod({ requests: 30 })))
    expect(found.requests).toEqual([30, 0])
    expect(found.totalUs(AFTER)).toBe(0)
  })

  test('of nothing are none', () => {
    const found = findCallingContexts(buildFlows(makeSpans([])))
    expect(found.contexts).toEqual([])
    expect(found.table().numRows()).toBe(0)
  })

  test('compare as means a request, so that more requests are no change', () => {
    const { flows } = compareShops({ requests: 300, seed: 2 }, { requests: 300, seed: 2 })
    const doubled = compareShops({ requests: 300 }, { requests: 600, payUs: 4000 })
    const table = findCallingContexts(flows).table()
    expect(new Set(table.array('changeTotalUs'))).toEqual(new Set([0]))
    const changes = findCallingContexts(doubled.flows).table().objects() as {
      name: string
      service: string
      changeSelfUs: number
      beforeCallsPerRequest: number
      afterCallsPerRequest: number
    }[]
    const pay = changes.find(({ name }) => name === 'CHARGE')
    expect(pay?.beforeCallsPerRequest).toBeCloseTo(1 / 3, 9)
    expect(pay?.afterCallsPerRequest).toBeCloseTo(1 / 3, 9)
    expect(pay?.changeSelfUs).toBeGreaterThan(600)
    expect(pay?.changeSelfUs).toBeLessThan(730)
    const others = changes.filter(({ name }) => name !== 'CHARGE')
    for (const { changeSelfUs } of others) expect(Math.abs(changeSelfUs)).toBeLessThan(20)
  })
})
