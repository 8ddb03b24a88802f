import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { AFTER, BEFORE } from '../../src/flows/flow-set.ts'
import { comparisonText } from '../../src/views/text/comparison-text.ts'
import { makeGraphs, makeSpans, type SpanSketch } from '../make-traces.ts'
import { call, record } from '../worlds.ts'

/** Requests a second apart: one in three asks the store, which takes 5 ms longer after. */
function period(after: boolean, count: number, more: { readonly probability?: number } = {}) {
  return record({ seed: 1, requests: count, name: `${after}` }, ({ index: i }) => {
    const query = call('store query', 4000 + ((i * 37) % 1000) + (after ? 5000 : 0), more)
    return call('front get', [500, 1500 + ((i * 53) % 500)], more, [i % 3 === 0 && query])
  })
}

const [BEFORE_ALL, AFTER_ALL] = [period(false, 3000), period(true, 6000)]
const ALL = compare(BEFORE_ALL, AFTER_ALL)
const SOME = compare(BEFORE_ALL, AFTER_ALL, { sample: 600 })

describe('a comparison of at most so many requests of a recording', () => {
  test('counts all that there are exactly, by structure too', () => {
    expect([SOME.flows.count(BEFORE), SOME.flows.count(AFTER)]).toEqual([600, 600])
    for (const one of [BEFORE, AFTER] as const) {
      expect(SOME.flows.countedIn(one)).toBeCloseTo(ALL.flows.countedIn(one), 6)
      const counts = ({ categories }: typeof ALL) =>
        Array.from({ length: categories.size }, (_, id) => categories.counted(id, one)).sort(
          (a, b) => a - b,
        )
      counts(SOME).forEach((count, i) => {
        expect(count).toBeCloseTo(counts(ALL)[i] as number, 6)
      })
    }
  })

  test('tells the same of all of them, and says what was compared', () => {
    const [all, some] = [ALL, SOME].map(({ findings }) => findings.findings) as [never[], never[]]
    const told = (findings: typeof ALL.findings.findings) => findings.map(({ title }) => title)
    expect(told(some)).toEqual(told(all))
    const [own, whole] = [some, all].map(
      ([first]) => first,
    ) as unknown as typeof ALL.findings.findings
    expect(own?.requests).toBe(whole?.requests)
    expect(own?.contributionUs).toBeCloseTo(whole?.contributionUs as number, -6)
    const text = comparisonText({ comparison: SOME, limit: 9, explained: null }, { verbose: false })
    expect(text).toMatch(
      /^3,000 \(600 compared\) requests before, 6,000 \(600 compared\) after, .*\nA weighted sample of them was compared; --sample all compares every request\n/,
    )
  })

  test('takes all of a recording that has no more, each for itself', () => {
    const { flows } = compare(BEFORE_ALL, AFTER_ALL, { sample: 4000 })
    expect([flows.count(BEFORE), flows.count(AFTER)]).toEqual([3000, 4000])
    expect(flows.countedIn(BEFORE)).toBe(3000)
    expect(flows.countedIn(AFTER)).toBeCloseTo(6000, 6)
  })

  test('asks again of the requests that were compared', () => {
    const { flows } = SOME.where('store is called')
    expect(new Set(SOME.flows.ids)).toEqual(new Set([...SOME.flows.ids, ...flows.ids]))
    expect(flows.countedIn(AFTER)).toBeCloseTo(2000, 6)
  })

  test('takes a sample that was drawn before as it is', () => {
    const drawn = [BEFORE_ALL.sample(900), AFTER_ALL.sample(900)] as const
    expect(compare(...drawn, { sample: 300 }).flows.size).toBe(1800)
  })
})

test('a sample of traces that are linked to each other tells how long messages wait as all do', () => {
  // Each request sends a message, which is taken in a trace of its own: 5 ms later, then 15.
  const recorded = (waitUs: number, count: number) =>
    makeSpans(
      Array.from({ length: count }, (_, i): SpanSketch[] => {
        const startUs = i * 1e6
        const takenUs = startUs + 1000 + waitUs * (0.7 + ((i * 37) % 100) / 100)
        const links = [{ trace: `web${i}`, id: 'web' }]
        const at = { startUs: takenUs, endUs: takenUs + 2000 }
        return [
          { trace: `web${i}`, id: 'web', kind: 'producer', startUs, endUs: startUs + 1000 },
          { trace: `mailer${i}`, id: 'mailer', kind: 'consumer', links, ...at },
        ]
      }).flat(),
    )
  const periods = [recorded(5000, 2000), recorded(15_000, 3000)] as const
  const [all, some] = [
    compare(...periods, { sample: 'all' }),
    compare(...periods, { sample: 1000 }),
  ]
  expect([all.flows.size, some.flows.size]).toEqual([10_000, 2000])
  expect(some.flows.countedIn(AFTER)).toBeCloseTo(6000, 6)
  const [own, told] = [all, some].map(({ findings }) =>
    findings.findings.map(({ where, direction, requests }) => ({ where, direction, requests })),
  )
  expect(own).toEqual([{ where: 'web → mailer', direction: 'slower', requests: 3000 }])
  expect(told).toEqual(own)
  const [us, ofSome] = [all, some].map(({ findings }) => findings.findings[0]?.steps[0]?.shiftUs)
  expect(Math.abs((ofSome as number) / (us as number) - 1)).toBeLessThan(0.1)
})

describe('all requests are compared', () => {
  const [before, few] = [period(false, 300), period(true, 300)]
  const graphs = () =>
    makeGraphs(
      Array.from({ length: 300 }, () => ({ labels: ['a', 'b'], edges: [[0, 1] as const] })),
    )
  const linked = makeSpans(
    Array.from({ length: 300 }, (_, i) => {
      const [kind, links] =
        i === 0 ? ['producer' as const, []] : ['consumer' as const, [{ trace: '0', id: 's' }]]
      return { id: 's', trace: `${i}`, kind, links, startUs: i * 1e6, endUs: i * 1e6 + 1000 }
    }),
  )
  test.each([
    ["where 'all' are asked for", [before, few], { sample: 'all' }],
    ['where each counts once', [before, few], { counts: 'raw' }],
    [
      'where only some recordings say what requests stand for',
      [before, period(true, 300, { probability: 0.5 })],
      {},
    ],
    ['where all traces are linked to one', [linked, few], {}],
    ['of trace points', [graphs(), graphs()], {}],
  ] as const)('%s', (_, [one, other], options) => {
    const { flows } = compare(one, other, { sample: 100, ...options })
    expect(flows.size).toBe(one.size + other.size)
  })
})
