import { describe, expect, test } from 'vitest'
import { explainMutation } from '../../../src/explain/parameters/explain-mutation.ts'
import type { Explanation } from '../../../src/explain/parameters/explanation.ts'
import { restoreExplanation } from '../../../src/explain/parameters/explanation-rows.ts'
import type { ExplanationData } from '../../../src/views/widgets/explanation/explanation-data.ts'
import { stepsCode } from '../../../src/views/widgets/explanation/explanation-steps.ts'
import { exploreExplanation } from '../../../src/views/widgets/explanation/explore-explanation.ts'
import { compareRequests, requests } from '../../explain/parameters/fixture.ts'
import { mixed, rmw } from './explanation-fixture.ts'

describe('exploreExplanation', () => {
  test('is a picture of the tree and its first sentences where no script runs', () => {
    const svg = exploreExplanation(rmw).svg()
    expect(svg).toContain('is at most 4,096')
    expect(svg).toContain('split by frontend NFS3 WRITE · count')
    expect(svg).toContain('112 of 112')
    expect(svg.replace(/<[^>]*>/g, ' ')).toMatch(/requests are mutations: 110 of 110/)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  test('draws and says so when nothing was found, or a period is empty', () => {
    const same = () => requests(40, (i) => ({ web: { size: i % 3 } }))
    const none = exploreExplanation(explainMutation(compareRequests(same(), same()), 0))
    expect(none.svg()).toContain('No parameter tells before and after apart.')
    const empty = exploreExplanation(explainMutation(compareRequests(same(), []), 0))
    expect(empty.svg()).not.toMatch(/NaN|undefined/)
  })

  test('checks its options', () => {
    expect(() => exploreExplanation(rmw, { rows: 3 } as never)).toThrow('There is no option rows.')
    expect(() => exploreExplanation(rmw, { characters: 1 })).toThrow('Option characters is 1.')
    const one = mixed({ question: 'what-differs' })
    expect(() => exploreExplanation(one, { question: 'what-is-slow' })).toThrow(
      `Option question is "what-is-slow". Give one that was asked: 'what-differs'.`,
    )
  })

  test.each([{ prune: false }, { criterion: 'gini' }, {}] as const)(
    'grows the trees in the page as the explanation did: %j',
    (options) => {
      const explanation = mixed(options)
      const { rows } = exploreExplanation(explanation).data as ExplanationData
      // Rows come with 7 digits.
      const rounded = (value: unknown) =>
        JSON.parse(
          JSON.stringify(value, (_, part) =>
            typeof part === 'number' ? Number(part.toPrecision(7)) : part,
          ),
        )
      const ways = ({ paths }: Explanation) =>
        paths.map(({ conditions, predicts, requests: count }) =>
          rounded({ conditions, predicts, count }),
        )
      expect(ways(restoreExplanation(rows))).toEqual(ways(explanation))
    },
  )

  test('steps are code, names quoted', () => {
    expect(stepsCode('x', [])).toBe('x')
    const steps = [
      { verb: 'without', column: "a'b" },
      { verb: 'including', column: 'c · d' },
    ] as const
    expect(stepsCode('x', steps)).toBe("x.without('a\\'b').including('c · d')")
  })
})
