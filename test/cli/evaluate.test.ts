import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** Runs the built command line where the repository is. */
async function evaluate(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [`${ROOT}dist/cli.js`, 'evaluate', ...args], {
    cwd: ROOT,
    maxBuffer: 1 << 26,
  })
  return stdout
}

describe('flowdelta evaluate', () => {
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
    await expect(evaluate('no-such-case')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has no case no-such-case\. There are: .*rmw/),
    })
  })
})
