import { describe, expect, test } from 'vitest'
import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import type { Explanation } from '../../../src/explain/parameters/explanation.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  explanationData,
  restoreExplanation,
  stepsCode,
} from '../../../src/views/widgets/explanation/explanation-widget.tsx'
import { compareRequests, requests } from '../../explain/parameters/fixture.ts'
import { mixed, recorded, rmw } from './explanation-fixture.ts'

/** An explanation as a page gets it. */
const carried = (explanation: Explanation, characters = 1e9) =>
  restoreExplanation(JSON.parse(JSON.stringify(explanationData(explanation, characters))))

/** Takes out the root of the better tree until nothing is left. */
function taken(explanation: Explanation): Explanation[] {
  const column = explanation.paths[0]?.conditions[0]?.column
  if (column === undefined) return [explanation]
  return [explanation, ...taken(explanation.without(column))]
}

describe('explore(explanation)', () => {
  test('is a picture of the tree and its first sentences where no script runs', () => {
    const svg = explore(rmw).svg()
    expect(svg).toContain('is at most 4,096')
    expect(svg).toContain('split by frontend NFS3 WRITE · count')
    expect(svg).toContain('113 of 114')
    expect(svg.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')).toMatch(
      /requests are mutations: 110 of 111/,
    )
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('draws and says so when nothing was found, or a period is empty', () => {
    const same = () => requests(40, (i) => ({ web: { size: i % 3 } }))
    const none = explore(explainMutation(compareRequests(same(), same()), 0))
    expect(none.svg()).toContain('No parameter tells before and after apart.')
    const empty = explore(explainMutation(compareRequests(same(), []), 0))
    expect(empty.svg()).not.toMatch(/NaN|undefined/)
  })

  test('checks its options', () => {
    expect(() => explore(rmw, { rows: 3 } as never)).toThrow('There is no option rows.')
    expect(() => explore(rmw, { characters: 1 })).toThrow('Option characters is 1.')
    const one = mixed({ question: 'what-differs' })
    expect(() => explore(one, { question: 'what-is-slow' })).toThrow(
      `Option question is "what-is-slow". Give one that was asked: 'what-differs'.`,
    )
  })

  test('steps are code, names quoted', () => {
    expect(stepsCode('x', [])).toBe('x')
    const steps = [
      { verb: 'without', column: "a'b" },
      { verb: 'including', column: 'c · d' },
    ] as const
    expect(stepsCode('x', steps)).toBe("x.without('a\\'b').including('c · d')")
  })
})

describe('an explanation carried into a page', async () => {
  test.each([
    ['made up', mixed()],
    ['made up, at a level of its own', mixed({ alpha: 0.5 })],
    ['rmw', rmw],
    ['mds-config', await recorded('mds-config')],
  ])('says the same, whatever is taken out: %s', (_, explanation) => {
    const [here, there] = [taken(explanation), taken(carried(explanation).explanation)]
    const said = (all: readonly Explanation[]) =>
      all.map((one) => [one.text({ limit: 50 }), one.excluded, one.differences])
    expect(here.length).toBeGreaterThan(1)
    expect(said(there)).toEqual(said(here))
  })

  test('has the traces of its rows', () => {
    const traces = (one: Explanation) => one.requestTable('what-is-slow').array('trace')
    expect(traces(carried(mixed()).explanation)).toEqual(traces(mixed()))
  })

  test('lets what was taken out before be put back', () => {
    const without = mixed().without('web READ · size')
    const { explanation } = carried(without)
    expect(explanation.excluded).toEqual(without.excluded)
    expect(explanation.text()).toBe(without.text())
    expect(explanation.including('web READ · kB').text()).toBe(
      without.including('web READ · kB').text(),
    )
  })

  test('keeps an identifier that was put back', () => {
    const web = (late: number) =>
      requests(60, (i) => ({ web: { request_id: `r${i % 3}`, size: late } }))
    const include = ['web READ · request_id']
    const explanation = explainMutation(compareRequests(web(0), web(1)), 0, { include })
    const names = (one: Explanation) => one.differences.map(({ column }) => column)
    expect(names(explanation)).toContain(include[0])
    expect(names(carried(explanation).explanation)).toEqual(names(explanation))
  })

  test('loses traces first without room, then the parameters that differ least', () => {
    const whole = carried(mixed())
    const tight = carried(mixed(), 12_000)
    const namesOf = ({ explanation }: typeof whole) =>
      explanation.question('what-is-slow')?.table.parameters.map(({ name }) => name) ?? []
    expect(whole.dropped).toBe(0)
    expect(tight.dropped).toBeGreaterThan(0)
    expect(namesOf(tight)).toContain('store get · host')
    expect(namesOf(tight).length).toBeLessThan(namesOf(whole).length)
    const traces = tight.explanation.requestTable('what-is-slow').array('trace') as string[]
    expect(traces.every((trace) => trace === '')).toBe(true)
    // Rows and one parameter of each table are there however little room there is.
    expect(namesOf(carried(mixed(), 1000))).toHaveLength(1)
    expect(tight.explanation.question('what-is-slow')?.table.size).toBe(300)
  })

  test('lacks a question that was not asked', () => {
    const { explanation } = carried(mixed({ question: 'what-is-slow' }))
    expect(explanation.questions.map(({ question }) => question)).toEqual(['what-is-slow'])
  })
})
