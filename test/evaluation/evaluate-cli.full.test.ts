import { describe, expect, test } from 'vitest'
import { runEvaluate } from './run-evaluate.ts'

async function evaluate(...args: string[]): Promise<string> {
  const { out } = await runEvaluate(...args)
  return out
}

describe('npm run evaluate', () => {
  test('--json gives quality, the thesis’s numbers and the baselines of each case', async () => {
    const document = JSON.parse(await evaluate('delay-1ms', 'rmw', '--json'))
    expect(document.schema).toBe('flowdelta.evaluation/1')
    expect(document.cases.map(({ name }: { name: string }) => name)).toEqual(['delay-1ms', 'rmw'])
    expect(document.cases[0]).toMatchObject({
      smPThreshold: 50,
      firstRelevantRank: 1,
      firstRelevantFinding: 1,
      thesis: { results: 178, top10RelevantPct: 100, falsePositivesPct: 7, coveragePct: 94 },
    })
    expect(document.cases[0].baselines.p95Tripled.results).toEqual(expect.any(Number))
    expect(document.null).toBeUndefined()
  })

  test('--null adds false-alarm rates with and without correction', async () => {
    const { null: rates } = JSON.parse(await evaluate('rmw', '--null', '--splits', '5', '--json'))
    expect(rates).toMatchObject([
      { name: 'rmw', correction: 'none', comparisons: 5 },
      { name: 'rmw', correction: 'bh', comparisons: 5 },
    ])
  })

  test('without --json it is a table', async () => {
    expect(await evaluate('rmw')).toMatch(/^case +SM +categories +results +top-10 %/m)
  })

  test('an unknown case names those there are', async () => {
    const { code, err } = await runEvaluate('no-such-case')
    expect(code).toBe(2)
    expect(err).toMatch(/^evaluate: .* has no case no-such-case\. There are: .*rmw/)
  })
})
