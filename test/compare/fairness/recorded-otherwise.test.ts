import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/index.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

//  web GET   ├──────────────────────────────┤
//    call      ├────────────────────────┤       web LIST, of shop
//    LIST        ├────────────────────┤         shop LIST
//      db           ├──────┤                    shop SELECT, within shop
const COUNT = 300

interface Recording {
  readonly seed: number
  /** Spans that are not recorded. */
  readonly without?: (span: SpanSketch, random: () => number) => boolean
  readonly operation?: string
  /** Spans put between a span and what it calls: `id` of the outer one. */
  readonly layer?: string
  readonly layerUs?: number
  readonly dbUs?: number
}

function period({ seed, without, operation, layer, layerUs = 0, dbUs = 4000 }: Recording) {
  const random = randomSource(seed).next
  const spread = (us: number) => us * (0.7 + 0.6 * random())
  const spans = Array.from({ length: COUNT }, (_, i) => {
    const [there, own, db, rest] = [spread(500), spread(3000), spread(dbUs), spread(3000)]
    const at = 100_000 * i
    const inner = at + 1000 + there + layerUs
    const done = inner + own + db + rest
    const name = operation ?? 'LIST'
    const one = (id: string, parent: string | null, rest: Partial<SpanSketch>): SpanSketch => ({
      trace: `trace-${seed}-${i}`,
      id: `${id}${i}`,
      parent: parent && `${parent}${i}`,
      service: 'shop',
      startUs: at,
      endUs: done,
      ...rest,
    })
    const all = [
      one('r', null, { service: 'web', operation: 'GET', endUs: done + layerUs + there + 1000 }),
      one('c', 'r', {
        service: 'web',
        operation: name,
        startUs: at + 1000,
        endUs: done + layerUs + there,
      }),
      one('s', 'c', { operation: name, startUs: inner - layerUs, endUs: done + layerUs }),
      one('d', layer === undefined ? 's' : 'l', {
        operation: 'SELECT',
        startUs: inner + own,
        endUs: inner + own + db,
      }),
      ...(layer === undefined ? [] : [one('l', 's', { operation: layer, startUs: inner })]),
    ]
    return all.filter((span) => !without?.(span, random))
  })
  return makeSpans(spans.flat(), `period ${seed}`)
}

const isCall = ({ id }: SpanSketch) => id.startsWith('c')

function told(before: Recording, after: Recording) {
  const comparison = compare(period(before), period(after))
  const [first] = comparison.warnings()
  return {
    findings: comparison.findings.findings.map(({ title }) => title),
    warning: first?.code === 'recorded-otherwise' ? first.finding : null,
  }
}

describe('recorded-otherwise', () => {
  const ALIKE = ', though its callers take as long with it as without.'
  test.each([
    ['of a service', ({ service }: SpanSketch) => service === 'shop', 'shop records no spans'],
    ['of calls, whose other sides have no caller then', isCall, 'web records no LIST spans'],
    ['of an operation', ({ id }: SpanSketch) => id.startsWith('d'), 'shop records no SELECT spans'],
  ])(
    'lost spans %s are a warning and no slowdown, whichever period lacks them',
    (_, without, says) => {
      const { findings, warning } = told({ seed: 1 }, { seed: 2, without })
      expect(findings).toEqual([])
      const spans = says === 'shop records no spans' ? 600 : 300
      expect(warning).toBe(`${says} after (${spans} before)${ALIKE}`)
      const back = told({ seed: 2, without }, { seed: 1 })
      expect(back.findings).toEqual([])
      expect(back.warning).toBe(`${says.replace('no ', '')} only after (${spans})${ALIKE}`)
    },
  )

  test('an operation that is only called otherwise is told so, and costs nothing', () => {
    const { findings, warning } = told({ seed: 1 }, { seed: 2, operation: 'FIND' })
    expect(findings).toEqual([])
    expect(warning).toBe('shop LIST is now called FIND.')
  })

  test('a layer that is recorded within what took as long before is no finding', () => {
    const { findings, warning } = told({ seed: 1 }, { seed: 2, layer: 'middleware' })
    expect(findings).toEqual([])
    expect(warning).toBe(`shop records middleware spans only after (300)${ALIKE}`)
  })

  test('a call that is no longer made takes no time, and stays a finding', () => {
    const without = ({ id }: SpanSketch) => id.startsWith('d')
    const { findings, warning } = told({ seed: 1 }, { seed: 2, without, dbUs: 0 })
    expect(warning).toBeNull()
    expect(findings[0]).toContain('shop: LIST no longer calls SELECT')
  })

  test('of spans lost at random, calls that seem left out are no finding, nor time in transit', () => {
    const without = (_: SpanSketch, random: () => number) => random() < 0.05
    const comparison = compare(period({ seed: 1 }), period({ seed: 2, without }))
    expect(comparison.findings.findings.map(({ title }) => title)).toEqual([])
    expect(comparison.warnings()[0]?.code).toBe('orphans')
  })
})
