import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { explain } from '../../../src/explain/parameters/explain.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { explanationTexts } from '../../../src/views/text/comparison-text.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

interface Request {
  readonly region: string
  readonly size: number
}

interface Change {
  readonly failing?: (request: Request, chance: number) => boolean
  readonly stockUs?: (request: Request) => number
  readonly payUs?: (request: Request) => number
}

/** Requests of a shop that asks its stock and is paid; times are log-normal. */
function shop(seed: number, { failing = () => false, stockUs, payUs }: Change) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 400; i++) {
    const region = ['eu', 'us', 'asia'][random.integer(3)] as string
    const request = { region, size: random.integer(1000) }
    const isFailing = failing(request, random.next())
    const stock = 800 * random.logNormal(0, 0.3) + (stockUs?.(request) ?? 0)
    const pay = 900 * random.logNormal(0, 0.3) + (payUs?.(request) ?? 0)
    const [trace, startUs] = [`t${i}`, i * 10_000]
    const payUs_ = startUs + 20 + stock
    const status = isFailing ? ('error' as const) : ('unset' as const)
    const code = {
      'http.status_code': isFailing ? 500 : 200,
      ...(isFailing && { 'fallback.path': 'v2' }),
    }
    spans.push(
      { trace, id: `a${i}`, service: 'shop', operation: 'buy', startUs, endUs: payUs_ + pay + 20 },
      {
        trace,
        id: `b${i}`,
        parent: `a${i}`,
        service: 'stock',
        operation: 'look',
        startUs: startUs + 10,
        endUs: startUs + 10 + stock,
      },
      {
        trace,
        id: `c${i}`,
        parent: `a${i}`,
        service: 'pay',
        operation: 'charge',
        startUs: payUs_,
        endUs: payUs_ + pay,
        status,
        attributes: code,
      },
    )
    const root = spans.at(-3) as SpanSketch
    spans[spans.length - 3] = { ...root, attributes: { region, size: request.size } }
  }
  return makeSpans(spans)
}

const conditionsOf = (explanation: ReturnType<typeof explain>) =>
  explanation.paths.map(({ conditions, predicts }) => ({
    columns: conditions.map(({ column }) => column),
    predicts,
  }))

test('a finding that more calls fail asks which parameters failing calls have, and never what says that they failed', () => {
  const rare = (_: Request, chance: number) => chance < 0.02
  const before = shop(1, { failing: rare })
  const after = shop(2, {
    failing: ({ region }, chance) => chance < (region === 'asia' ? 0.5 : 0.02),
  })
  const comparison = compare(before, after)
  const [finding] = comparison.findings.findings
  expect(finding?.kind).toBe('errors')
  const explanation = explain(comparison, finding as NonNullable<typeof finding>)
  expect(conditionsOf(explanation)[0]).toEqual({
    columns: ['shop buy · region'],
    predicts: 'mutation',
  })
  expect(explanation.questions.map(({ question }) => question)).toEqual(['what-differs'])
  expect(explanation.text()).toMatch(
    /^Calls of pay charge after\nWhat fails\?\n {2}Where shop buy · region is asia, calls are (more often )?failing: \d+ of \d+ /,
  )
  for (const name of ['http.status_code', 'fallback.path', 'status']) {
    expect(explanation.tried).not.toContain(`pay charge · ${name}`)
  }
})

test('where chance alone decides which calls fail, no parameter is named', () => {
  const named = [11, 12, 13, 14].filter((seed) => {
    const comparison = compare(
      shop(seed, { failing: (_, chance) => chance < 0.02 }),
      shop(seed + 100, { failing: (_, chance) => chance < 0.2 }),
    )
    const [finding] = comparison.findings.findings
    return explain(comparison, finding as NonNullable<typeof finding>).paths.length > 0
  })
  expect(named).toEqual([])
})

test('a finding of two steps explains both, the one that parameters tell apart better first', () => {
  const comparison = compare(
    shop(3, {}),
    shop(4, { stockUs: () => 500, payUs: ({ size }) => (size < 500 ? 1800 : 100) }),
  )
  const [finding, other] = comparison.findings.findings
  const changedEdges = [...(finding?.changedEdges ?? []), ...(other?.changedEdges ?? [])]
  const both = { ...(finding as NonNullable<typeof finding>), changedEdges }
  for (const edges of [changedEdges, changedEdges.toReversed()]) {
    const explanation = explain(comparison, { ...both, changedEdges: edges })
    expect(explanation.subject.title).toBe('Calls of pay charge')
    expect(conditionsOf(explanation)[0]?.columns).toEqual(['shop buy · size'])
    expect(explanation.others.map(({ subject }) => subject.title).sort()).toEqual([
      'Calls of pay charge where size < 500',
      'Calls of stock look',
    ])
    expect(explanation.text()).toContain('\nNo parameter explains calls of stock look.\n')
  }
})

test('a finding that holds only in a segment is explained among the calls of that, too, and never denied by all calls', () => {
  const found = (stockUs: (request: Request) => number) => {
    const comparison = compare(shop(7, {}), shop(8, { stockUs }))
    const [finding] = comparison.findings.findings
    return { comparison, finding: finding as NonNullable<typeof finding> }
  }
  const isAsia = ({ region }: Request) => region === 'asia'
  const { comparison, finding } = found((request) => (isAsia(request) ? 3000 : 0))
  expect(finding.segment?.text).toBe('region = asia')
  expect(explain(comparison, finding).text()).toMatch(
    /^Calls of stock look\n[\s\S]*region is asia, calls are slow[\s\S]*\nNo parameter explains calls of stock look where region = asia\.\n/,
  )
  // Where no parameter tells all calls apart, those of the segment alone are told of.
  const alone = explain(comparison, finding, { exclude: ['shop buy · region'] })
  expect(alone.subject.title).toBe('Calls of stock look where region = asia')
  expect(alone.others).toEqual([])
  // The same requests in that segment, the larger ones of which take still longer.
  const large = found((request) => (isAsia(request) ? (request.size > 500 ? 6000 : 2000) : 0))
  const { paths, others } = explain(large.comparison, {
    ...large.finding,
    segment: finding.segment as NonNullable<typeof finding.segment>,
  })
  const within = others.find(({ subject }) => subject.title.endsWith(' where region = asia'))
  expect(paths[0]?.conditions.map(({ column }) => column)).toContain('shop buy · region')
  expect(within?.paths[0]?.conditions.map(({ column }) => column)).toEqual(['shop buy · size'])
})

test('a finding that sums up others is explained by the calls of these', () => {
  const comparison = compare(shop(5, {}), shop(6, { stockUs: () => 500 }))
  const finding = comparison.findings.findings[0] as NonNullable<
    (typeof comparison.findings.findings)[0]
  >
  const sum = { ...finding, changedEdges: [], consequences: [finding] }
  expect(explain(comparison, sum).subject.title).toBe('Calls of stock look')
})

test('no heading stands without an answer, and of a finding and its mutation all is said once', () => {
  const comparison = compare(shop(5, {}), shop(6, { stockUs: () => 500 }))
  const [finding] = comparison.findings.findings
  const [mutation] = comparison.ranking.mutations
  const why = explain(comparison, finding as NonNullable<typeof finding>)
  const text = why.text()
  expect(text).toMatch(
    /^Calls of stock look\nNo parameter tells calls after from calls before, or slow calls from others\.\nTried: /,
  )
  const printed = explanationTexts({
    finding: { ...(finding as NonNullable<typeof finding>), consequenceOf: null, why } as never,
    mutation: { ...mutation, why: explain(comparison, { category: 0 }) } as never,
  })
  expect(printed).toHaveLength(1)
  expect(printed[0]?.replaceAll('\n    ', ' ')).toMatch(
    /^Finding #1 by parameters: Calls of stock look\nMutation 1 by parameters: .*\nNo parameter tells calls after from calls before, or slow calls from others, or requests after from requests before, or slow requests from others\.\nTried: [^\n]*$/,
  )
})

test.each(['new', 'gone'])(
  'of a call that is %s where a flag is on, the flag tells which calls changed, whatever their hosts',
  (kind) => {
    const period = (seed: number, isNew: boolean) => {
      const random = randomSource(seed)
      const spans = Array.from({ length: 400 }, (_, i): SpanSketch[] => {
        const [trace, startUs] = [`t${i}`, i * 100_000]
        const flag = random.next() < 0.2 ? 'on' : 'off'
        const [host, other] = [random.integer(9), random.integer(9)].map((one) => `node-${one}`)
        const isCalled = flag === 'on' && isNew ? kind === 'new' : kind === 'gone'
        const calledUs = startUs + 5000 * random.logNormal(0, 0.3)
        const endUs = calledUs + (isCalled ? 30_000 * random.logNormal(0, 0.3) : 0)
        const root = { trace, id: `r${i}`, service: 'web', operation: 'SHOW', host: host ?? '' }
        const bff = { trace, id: `b${i}`, parent: root.id, service: 'bff', operation: 'ASK' }
        const call = { trace, id: `i${i}`, parent: bff.id, service: 'insights', operation: 'GET' }
        return [
          { ...root, startUs, endUs: endUs + 1000, attributes: { flag, tier: random.integer(3) } },
          { ...bff, host: other ?? '', startUs: startUs + 500, endUs: endUs + 500 },
          ...(isCalled ? [{ ...call, startUs: calledUs, endUs }] : []),
        ]
      })
      return makeSpans(spans.flat())
    }
    const comparison = compare(period(7, false), period(8, true))
    const [finding] = comparison.findings.findings
    expect(finding?.title).toMatch(/^bff: .* only where flag = on$/)
    const explanation = explain(comparison, finding as NonNullable<typeof finding>)
    expect(explanation.text()).toMatch(
      /^Calls of bff ASK after\nWhat differs\?\n {2}Where web SHOW · flag is on, calls are changed: (\d+) of \1 \(100 %\), covering all of them/,
    )
  },
)
