import { describe, expect, test } from 'vitest'
import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import type { ExplainOptions, Explanation } from '../../../src/explain/parameters/explanation.ts'
import { plot } from '../../../src/views/plot.ts'
import { compareRequests, type RequestSketch, requests } from '../../explain/parameters/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { dataOf, expectDrawable, partsOf, pick } from './fixture.ts'

const explained = (
  before: ReturnType<typeof requests>,
  after: ReturnType<typeof requests>,
  options: ExplainOptions = {},
) => explainMutation(compareRequests(before, after), 0, { sample: 'all', ...options })

/** 40 large reads before, 20 small ones after; and slow on one of two hosts. */
const sizes = () => {
  const side =
    (size: number, slow: boolean) =>
    (i: number): RequestSketch => ({
      web: { size, offset: (i * 7919) % 997 },
      host: `node${i % 2}`,
      storeUs: 100 + (i % 5) + (slow && i % 2 === 1 ? 100 : 0),
    })
  return explained(requests(40, side(65_536, false)), requests(20, side(4096, true)))
}

const charts = (explanation: Explanation, question?: 'what-differs' | 'what-is-slow') => {
  const asked = question === undefined ? {} : { question }
  return [plot(explanation, 'differences', asked), plot(explanation, 'tree', asked)]
}

describe('plot', () => {
  test('draws the share of each group, the most different parameter first', () => {
    const chart = plot(sizes(), 'differences')
    const [bars] = dataOf(chart)
    expect(pick(bars, 'parameter', 'value', 'group', 'share')).toEqual([
      ['web READ · size', '4,096', 'before', '0 %'],
      ['web READ · size', '4,096', 'after', '100 %'],
      ['web READ · size', '65,536', 'before', '100 %'],
      ['web READ · size', '65,536', 'after', '0 %'],
    ])
    expect(expectDrawable(chart)).toContain('web READ · size: effect 1.00, q &lt; 0.001')
    expect(chart.description).toContain('40 requests before and 20 requests after')
  })

  test('beyond the limit says what is left out', () => {
    const explanation = sizes()
    const chart = plot(explanation, 'differences', { limit: 1 })
    expect(chart.description).toContain(
      `Shows the first 1 of ${explanation.differences.length} parameters.`,
    )
    expect(new Set(pick(dataOf(chart)[0], 'parameter').flat())).toEqual(
      new Set(['web READ · size']),
    )
    expectDrawable(chart)
  })

  test('of what is slow compares slow requests with usual ones', () => {
    const chart = plot(sizes(), 'differences', { question: 'what-is-slow' })
    expect(chart.title).toBe('Each parameter by itself: usual requests and slow requests')
    expect(pick(dataOf(chart)[0]?.slice(0, 2), 'parameter', 'value', 'share')).toEqual([
      ['store get · host', 'node0', '100 %'],
      ['store get · host', 'node0', '0 %'],
    ])
  })
})

describe('plot', () => {
  test('has a row for each node, with the share of both groups, the best way bold', () => {
    const chart = plot(sizes(), 'tree', { question: 'what-differs' })
    const svg = expectDrawable(chart)
    for (const text of [
      'is at most 4,096',
      'is above 4,096',
      'split by web READ · size',
      '40 of 40',
    ]) {
      expect(svg).toContain(text)
    }
  })

  test('of times gives the mean of each node', () => {
    const chart = plot(sizes(), 'tree', { question: 'what-is-slow' })
    const svg = expectDrawable(chart)
    for (const text of ['mean', '152 µs', '102 µs', '202 µs']) expect(svg).toContain(text)
  })

  test('a tree that is a leaf says that nothing tells them apart', () => {
    const same = () => requests(40, (i) => ({ web: { size: i % 3 } }))
    const chart = plot(explained(same(), same()), 'tree', { question: 'what-differs' })
    expect(chart.description).toContain('No parameter tells before and after apart.')
    expectDrawable(chart)
  })

  test('large trees are drawn near the root and along the best way, with the number of nodes left out', () => {
    const side = (i: number) => ({ web: { a: i % 16 }, storeUs: 100 + 100 * (i % 16) })
    const explanation = explained(requests(400, side), requests(400, side))
    const question = 'what-is-slow'
    const drawn = (limit: number) => plot(explanation, 'tree', { question, limit })
    const few = drawn(3)
    expect(few.description).toMatch(/\d+ nodes further down are not drawn/)
    expect(few.svg().length).toBeLessThan(drawn(500).svg().length)
    expectDrawable(few)
    expectDrawable(drawn(500))
  })
})

describe('every chart', () => {
  const hostile = () => {
    const names = [HOSTILE, `'+datum.constructor('alert(1)')()+'`, '\u202etxt', '__proto__']
    const side =
      (late: number) =>
      (i: number): RequestSketch => ({
        web: {
          [HOSTILE]: names[(i + late) % 2] as string,
          ['x'.repeat(10_000)]: names[2 + ((i + late) % 2)] as string,
        },
        host: names[i % 4] as string,
        storeUs: 100 + (i % 5) + (late === 1 && i % 4 === 1 ? 300 : 0),
      })
    const after = requests(60, (i) => ({ ...side(1)(i), web: { [HOSTILE]: names[0] as string } }))
    return explained(requests(60, side(0)), after)
  }

  test.each([
    ['sizes', sizes],
    ['hostile names', hostile],
    [
      'no requests before',
      () =>
        explained(
          [],
          requests(30, (i) => ({ web: { size: i % 4 } })),
        ),
    ],
    [
      'no requests after',
      () =>
        explained(
          requests(30, (i) => ({ web: { size: i % 4 } })),
          [],
          { question: 'what-differs' },
        ),
    ],
  ])('of %s is valid, compiles without a warning and draws no NaN', (_, make) => {
    const explanation = make()
    for (const { question } of explanation.questions) {
      for (const chart of charts(explanation, question)) expectDrawable(chart)
    }
  })

  test('no parameter at all leaves an empty picture', () => {
    const explanation = explained(
      requests(30, (i) => ({ web: { size: i % 4 } })),
      [],
    )
    expectDrawable(plot(explanation, 'tree', { question: 'what-is-slow' }))
    expectDrawable(plot(explanation, 'differences', { question: 'what-is-slow' }))
  })

  test('keeps names from traces in data, short', () => {
    const explanation = hostile()
    for (const chart of charts(explanation, 'what-differs')) {
      for (const [key, value] of partsOf('spec' in chart ? chart.spec : {})) {
        if (!['labelExpr', 'field', 'format'].includes(key) || typeof value !== 'string') continue
        expect(value).not.toMatch(/alert|onerror|proto|constructor/)
      }
      const svg = expectDrawable(chart)
      for (const bad of ['<img', '<script', '\u202e']) expect(svg).not.toContain(bad)
      expect(JSON.stringify('spec' in chart ? chart.spec : chart.svg()).length).toBeLessThan(60_000)
    }
  })

  test('checks its options', () => {
    const explanation = explained(
      requests(20, (i) => ({ web: { size: i % 2 } })),
      requests(20, (i) => ({ web: { size: i % 2 } })),
      { question: 'what-differs' },
    )
    for (const kind of ['tree', 'differences'] as const) {
      expect(() => plot(explanation, kind, { limit: 0 })).toThrow('Option limit is 0.')
      expect(() => plot(explanation, kind, { rows: 3 } as never)).toThrow(
        'There is no option rows.',
      )
      expect(() => plot(explanation, kind, { question: 'what-is-slow' })).toThrow(
        `Option question is "what-is-slow". Give a question that was asked: 'what-differs'.`,
      )
    }
  })
})
