import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { explainMutation } from '../../../src/explain/parameters/explain-mutation.ts'
import type { ExplainOptions } from '../../../src/explain/parameters/explain-options.ts'
import type { Explanation } from '../../../src/explain/parameters/explanation.ts'
import {
  explanationRows,
  restoreExplanation,
} from '../../../src/explain/parameters/explanation-rows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { compareRequests, requests } from './fixture.ts'

/** As a page gets it. */
function carried(explanation: Explanation, limit = 1e9, order: readonly string[] = []) {
  const rows = explanationRows(explanation, { order, limit })
  const json = JSON.parse(JSON.stringify(rows))
  expect(json).toEqual(rows)
  return json as typeof rows
}

const again = (explanation: Explanation) => restoreExplanation(carried(explanation))

/** Writes of two sizes and users, some without a size; slow where large and on one host. */
function mixed(seed: number, share: number) {
  const random = randomSource(seed)
  return requests(300, () => {
    const isLarge = random.next() < share
    const host = `node${random.integer(4)}`
    const size = random.next() < 0.1 ? {} : { size: isLarge ? 65_536 : 4096, kB: isLarge ? 64 : 4 }
    return {
      web: { ...size, user: `u${random.integer(5)}`, load: random.next() },
      store: { request_id: `r${random.integer(3)}` },
      host,
      storeUs: 100 + 10 * random.next() + (isLarge && host === 'node1' ? 400 : 0),
    }
  })
}

const mixedExplanation = (options: ExplainOptions = {}) =>
  explainMutation(compareRequests(mixed(1, 0.2), mixed(2, 0.9)), 0, { sample: 'all', ...options })

async function recorded(name: string) {
  const folder = new URL(`../../../datasets/storage-service/${name}/`, import.meta.url).pathname
  const before = await loadTraces(`${folder}before.jsonl.gz`)
  const comparison = compare(before, await loadTraces(`${folder}after.jsonl.gz`))
  return explainMutation(comparison, comparison.ranking.mutations[0] as never)
}

const rmw = await recorded('rmw')
const config = await recorded('mds-config')

const effects = ({ differences }: Explanation) =>
  differences.map(({ column, effect, q }) => [column, effect, q])

/** Takes out the root of the better tree until nothing is left. */
function taken(explanation: Explanation): Explanation[] {
  const column = explanation.paths[0]?.conditions[0]?.column
  if (column === undefined) return [explanation]
  return [explanation, ...taken(explanation.without(column))]
}

describe('an explanation carried into a page', () => {
  test.each([
    ['made up', mixedExplanation()],
    ['rmw', rmw],
    ['mds-config', config],
  ])('%s: says the same, whatever is taken out', (_, explanation) => {
    const [here, there] = [taken(explanation), taken(again(explanation))]
    const said = (all: readonly Explanation[]) =>
      all.map((one) => [one.text({ limit: 50 }), one.excluded, effects(one)])
    expect(here.length).toBeGreaterThan(1)
    expect(said(there)).toEqual(said(here))
  })

  test('has the traces of its rows', () => {
    const explanation = mixedExplanation()
    const traces = (one: Explanation) => one.requestTable('what-is-slow').array('trace')
    expect(traces(again(explanation))).toEqual(traces(explanation))
  })

  test('what was taken out before can be put back', () => {
    const without = mixedExplanation().without('web READ · size')
    expect(without.excluded).toEqual(['web READ · kB', 'web READ · size'])
    const restored = again(without)
    expect(restored.text()).toBe(without.text())
    expect(restored.including('web READ · kB').text()).toBe(
      without.including('web READ · kB').text(),
    )
    expect(restored.excluded).toEqual(without.excluded)
  })

  test('an identifier that was put back stays', () => {
    const include = ['store get · request_id']
    const explanation = mixedExplanation({ include })
    const names = (one: Explanation) => one.differences.map(({ column }) => column)
    expect(names(explanation)).toContain(include[0])
    expect(names(again(explanation))).toEqual(names(explanation))
  })

  test('numbers that differ in the ninth digit stay apart, others have seven digits', () => {
    const sizes = [123_456_789, 123_456_790, 123_456_791]
    const side = (late: number) =>
      requests(90, (i) => ({ web: { size: sizes[(i % 2) + late] as number, load: (i + 1) / 7 } }))
    const explanation = explainMutation(compareRequests(side(0), side(1)), 0, { sample: 'all' })
    const parameters = carried(explanation).differs?.parameters ?? []
    const find = (name: string) => parameters.find((one) => one.name === `web READ · ${name}`)
    expect(find('size')).toMatchObject({ values: sizes })
    expect(find('load')).toMatchObject({ values: expect.arrayContaining([0.1428571, 0.2857143]) })
  })

  test('without room, traces go first, then the parameters that come last in the order', () => {
    const explanation = mixedExplanation()
    const all = carried(explanation)
    const names = all.slow?.parameters.map(({ name }) => name) ?? []
    const tight = carried(explanation, 14_000, ['store get · host', 'web READ · size'])
    expect(tight.slow?.traces).toBeNull()
    expect(tight.slow?.dropped).toBeGreaterThan(0)
    expect(tight.slow?.parameters.map(({ name }) => name)).toContain('store get · host')
    expect((tight.slow?.parameters.length ?? 0) + (tight.slow?.dropped ?? 0)).toBe(names.length)
    // Rows and one parameter of each table are there however little room there is.
    const least = carried(explanation, 1000, ['store get · host', 'web READ · size'])
    expect(least.slow?.parameters).toHaveLength(1)
    for (const table of ['differs', 'slow'] as const) {
      const [size, smallest] = [tight, least].map((rows) => JSON.stringify(rows[table]).length)
      expect(size).toBeLessThan(Math.max(7_500, (smallest as number) + 1))
    }
    expect(restoreExplanation(tight).question('what-is-slow')?.table.size).toBe(300)
  })

  test('a question that was not asked is not there', () => {
    const explanation = mixedExplanation({ question: 'what-is-slow' })
    const rows = carried(explanation)
    expect(rows.differs).toBeNull()
    expect(restoreExplanation(rows).questions.map(({ question }) => question)).toEqual([
      'what-is-slow',
    ])
  })
})
