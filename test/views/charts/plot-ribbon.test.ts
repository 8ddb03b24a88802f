import { mean, range, sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { Account } from '../../../src/comparison/account.ts'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { TIME } from '../../../src/core/quantity.ts'
import { BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import {
  accountFor,
  ribbonChart,
  ribbonLines,
  ribbonParts,
} from '../../../src/views/charts/ribbon.ts'
import { plot } from '../../../src/views/plot.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'
import { recordedCase } from '../../recorded.ts'
import { chain, comparisonOf, dataOf, expectDrawable, smallComparison, upFrom } from './fixture.ts'

const RECORDED = ['delay-1ms', 'mds-config', 'control']
const SIMULATED: readonly (readonly [string, () => Comparison])[] = [
  ['slower work', () => compareShops({}, { stockUs: 1600, payUs: 4000 })],
  ['a slower network', () => compareShops({}, { networkUs: 300 })],
  ['other work', smallComparison],
  ['nothing', () => compareShops({}, {})],
]

type Labelled = { readonly text: string; readonly atUs: number; readonly edge: number }

const labelsOf = (comparison: Comparison) => dataOf(ribbonChart(comparison))[3] as Labelled[]

/** Expects parts to add up to both means. */
function expectToAddUp(comparison: Comparison) {
  const { account } = comparison
  for (const limit of [0, 1, 3, 6]) {
    const parts = ribbonParts(account, { limit, longest: 40 })
    for (const period of ['beforeUs', 'afterUs'] as const) {
      const whole = sum(account.steps, (step) => step[period])
      expect(sum(parts, (part) => part[period])).toBeCloseTo(whole, 6)
    }
    const changeUs = sum(parts, ({ beforeUs, afterUs }) => afterUs - beforeUs)
    expect(changeUs).toBeCloseTo(account.totalUs, 6)
    expect(parts.filter(({ name }) => name !== '').length).toBeLessThanOrEqual(limit)
    expect(sum(parts, ({ steps }) => steps.length)).toBe(account.steps.length)
  }
}

describe('parts of a ribbon', () => {
  test.each(RECORDED)('of %s add up to both means and to the change', async (name) => {
    expectToAddUp(await recordedCase(name))
  })

  test.each(SIMULATED)('of %s add up to both means and to the change', (_, make) => {
    expectToAddUp(make())
  })

  test('of random steps add up, and stand in the order of the walk', () => {
    const random = randomSource(7)
    for (const size of range(1, 40)) {
      const steps = range(size).map((i) => ({
        kind: i % 3 === 0 ? ('call' as const) : ('work' as const),
        service: `s${i % 5}`,
        caller: i % 2 === 0 ? null : `s${i % 4}`,
        operation: `op${i % 7}`,
        beforeUs: random.next() < 0.2 ? 0 : 100 * random.next(),
        afterUs: random.next() < 0.2 ? 0 : 100 * random.next(),
        startUs: 1000 * random.next(),
      }))
      const parts = ribbonParts({ steps }, { limit: 5, longest: 30 })
      for (const period of ['beforeUs', 'afterUs'] as const) {
        expect(sum(parts, (part) => part[period])).toBeCloseTo(
          sum(steps, (step) => step[period]),
          9,
        )
      }
      const named = parts.map(({ name }) => name).filter((name) => name !== '')
      expect(new Set(named).size).toBe(named.length)
    }
  })

  test('name services where no few operations hold the change', () => {
    const steps = range(40).map((i) => ({
      ...{ kind: 'work' as const, service: 'locks', caller: 'api', operation: `acquire ${i}` },
      ...{ beforeUs: 10, afterUs: 20, startUs: i },
    }))
    const parts = ribbonParts({ steps }, { limit: 5, longest: 30 })
    expect(parts).toEqual([{ name: 'locks', change: 'more', beforeUs: 400, afterUs: 800, steps }])
  })

  test('tell a service apart from the ways to it', () => {
    const role = { service: 'db', caller: 'api', operation: 'SELECT' }
    const steps = [
      { kind: 'call' as const, ...role, beforeUs: 10, afterUs: 30, startUs: 0 },
      { kind: 'work' as const, ...role, beforeUs: 10, afterUs: 40, startUs: 5 },
    ]
    const parts = ribbonParts({ steps }, { limit: 5, longest: 30 })
    expect(parts.map(({ name }) => name)).toEqual(['api → db: SELECT', 'db: SELECT'])
  })
})

describe('the ribbon', () => {
  test('is what a comparison shows first', () => {
    const comparison = compareShops({}, { stockUs: 1600 })
    expect(plot(comparison).title).toBe(ribbonChart(comparison).title)
    expect(plot(comparison.account).title).toBe(plot(comparison).title)
  })

  test.each(RECORDED)('of %s is drawn without a warning', async (name) => {
    expectDrawable(ribbonChart(await recordedCase(name)))
  })

  test('names what takes longer below the bar after, what is gone above that before', async () => {
    const labels = labelsOf(await recordedCase('mds-config'))
    const [gone, news] = [/storage-meta.* \(gone\)$/, /storage-data.* \(new\)$/]
    const at = (pattern: RegExp) =>
      labels.filter(({ text }) => pattern.test(text)).map(({ edge }) => edge)
    expect(at(gone).length).toBeGreaterThan(0)
    expect(at(news).length).toBeGreaterThan(0)
    expect(Math.max(...at(gone))).toBeLessThan(Math.min(...at(news)))
  })

  test('tells nothing where chance may have made the difference', async () => {
    const comparison = await recordedCase('control')
    expect(labelsOf(comparison)).toEqual([])
    expect(ribbonChart(comparison).description).toContain('may be chance')
    expect(ribbonLines(comparison, 80)).toEqual([])
  })

  test('says that the rest is gray, and how much that changed', async () => {
    expect(ribbonChart(await recordedCase('delay-1ms')).description).toMatch(
      /^Gray: 37 other steps, \+[\d.]+ µs in total\. Pale: what a changed step takes in both periods\.$/,
    )
  })

  test('says below its title what has no room for a label, so that all parts are told', () => {
    const steps = range(5).map((i) => ({
      ...{ kind: 'work' as const, caller: null, beforeUs: 0, afterUs: 100, startUs: i },
      ...{ service: `a service with a long name ${i}`, operation: `an operation ${i}` },
    }))
    const account = new Account({ totalUs: 500, mixUs: 0, steps }, TIME)
    const chart = plot(account, 'ribbon', { width: 640 })
    const labels = dataOf(chart)[3] as Labelled[]
    const [, more = '0'] = /\+(\d) more: /.exec(chart.description) ?? []
    expect(labels.length).toBeLessThan(5)
    expect(labels.length + Number(more)).toBe(5)
    expect(chart.description.match(/\+100 µs/g)).toHaveLength(Number(more))
  })

  test('of calls made otherwise holds the requests that make them against all before that could', () => {
    const random = randomSource(3)
    const callees = ['a', 'b', 'c', 'd', 'e']
    const period = (name: string, quota: number) =>
      makeSpans(
        range(400).flatMap((i): SpanSketch[] => {
          const [trace, startUs] = [`${name}${i}`, NOON_US + i * 1e6]
          const isOrder = i % 2 === 0
          // Hardly two requests have the same calls.
          const called = random.shuffle(callees).slice(0, 1 + random.integer(callees.length))
          const all = [...called, ...(isOrder && random.next() < quota ? ['quota'] : [])]
          let atUs = startUs
          const calls = all.map((service): SpanSketch => {
            const endUs = atUs + (service === 'quota' ? 5000 : 20_000 * random.next())
            const sketch = { trace, id: service, parent: 'r', service, startUs: atUs, endUs }
            atUs = endUs
            return sketch
          })
          const operation = isOrder ? 'POST /order' : 'GET /list'
          return [
            { trace, id: 'r', service: 'shop', operation, startUs, endUs: atUs + 1000 },
            ...calls,
          ]
        }),
        name,
      )
    const comparison = compare(period('before', 0), period('after', 0.4))
    const { flows } = comparison
    const finding = comparison.findings.findings.find(({ doing }) => doing !== undefined)
    const now = new Set(finding?.doing)
    const account = accountFor(comparison, null, finding?.id as string)
    const isOrder = (one: number) => Number(flows.ids[one]?.replace(/\D/g, '')) % 2 === 0
    const meanOf = (isOf: (one: number) => boolean) =>
      mean([...flows.period.keys()].filter(isOf), (one) => flows.responseTimeUs[one])
    const isBefore = (one: number) => flows.period[one] === BEFORE
    expect(sum(account.steps, (step) => step.afterUs)).toBeCloseTo(
      meanOf((one) => now.has(one))!,
      3,
    )
    expect(sum(account.steps, (step) => step.beforeUs)).toBeCloseTo(
      meanOf((one) => isBefore(one) && isOrder(one))!,
      3,
    )
  })

  test('is also of one kind of request, and of one finding', () => {
    const comparison = compareShops({}, { stockUs: 1600 })
    const [finding] = comparison.findings.findings
    const category = finding?.categories[0] as number
    for (const options of [{ category }, { finding: finding?.id as string }]) {
      const chart = ribbonChart(comparison, options)
      expectDrawable(chart)
      expect(dataOf(chart)[3]?.map(({ text }) => text)).toContainEqual(
        expect.stringMatching(/^\+.* stock: LOOKUP$/),
      )
    }
    expect(() => ribbonChart(comparison, { category: 999 })).toThrow(/a category from 0 to/)
    expect(() => ribbonChart(comparison, { finding: 'none' })).toThrow(finding?.id)
  })

  test.each([
    ['before', () => comparisonOf([], chain(['A', 'B'], upFrom(1, 20)))],
    ['after', () => comparisonOf(chain(['A', 'B'], upFrom(1, 20)), [])],
  ] as const)('without requests %s says so', (period, make) => {
    const chart = ribbonChart(make())
    expect(chart.title).toBe(`No requests ${period} to compare with`)
    expectDrawable(chart)
    expect(ribbonLines(make(), 80)).toEqual([])
  })
})

describe('a ribbon as text', () => {
  test.each(RECORDED)('of %s never overflows, to scale', async (name) => {
    const comparison = await recordedCase(name)
    for (const width of [60, 80, 100, 120]) {
      const lines = ribbonLines(comparison, width)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
      if (lines.length === 0) continue
      const [before = 0, after = 0] = lines.map((line) => line.match(/[█▓▒░]/g)?.length ?? 0)
      const [beforeUs, afterUs] = (['beforeUs', 'afterUs'] as const).map((us) =>
        sum(comparison.account.steps, (step) => step[us]),
      )
      const longer = Math.max(before, after)
      expect(longer).toBeGreaterThan(width - 20)
      const scale = longer / Math.max(beforeUs as number, afterUs as number)
      expect(Math.abs(before - scale * (beforeUs as number))).toBeLessThanOrEqual(1)
    }
  })

  test('names one to three parts in the order of their change, each with its block', async () => {
    const [, after, names] = ribbonLines(await recordedCase('delay-1ms'), 100)
    expect(names).toMatch(
      /^ {7}█ \+\d+ µs storage-data: SN WRITE {2}▓ \+\d+ µs storage-meta: SN WRITE {2}░ \+[\d.]+ µs other steps$/,
    )
    expect(after).toMatch(/^after {2}░+█+░+▓+░ 1\.22 ms$/)
  })

  test('names the findings of its parts where there are several', () => {
    const comparison = compareShops({}, { stockUs: 1300, payUs: 2600 })
    expect(comparison.findings.findings).toHaveLength(2)
    const [, , names] = ribbonLines(comparison, 100)
    expect(names).toMatch(/ (stock|pay): \w+ \(#1\) .* (stock|pay): \w+ \(#2\) /)
  })

  test('shortens a name that is too long for the line', () => {
    const long = 'x'.repeat(300)
    const period = (us: number) => chain([long, 'B'], Array(20).fill(us))
    const lines = ribbonLines(comparisonOf(period(100), period(900)), 60)
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
  })
})
