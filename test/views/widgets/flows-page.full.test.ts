import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { flows } from './flow-fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const FOLDER = new URL('../../../datasets/storage-service/rmw/', import.meta.url).pathname
const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)
const [mutation] = comparison.ranking.mutations

describe('without scripts', () => {
  test.each(['side-by-side', 'diff', 'animation'] as const)('%s is a picture', (mode) => {
    const svg = flows(comparison, mutation?.category as number, { mode }).svg()
    expect(svg).toContain('SN READ')
    expect(svg).not.toMatch(/NaN|undefined/)
  })
})

describeInBrowser('the flow comparison in a page', (open) => {
  test('shows the read that came, and changes its mode', async () => {
    const { page, problems } = await open([flows(comparison, mutation?.category as number)])
    const text = await page.locator('.flowdelta').innerText()
    expect(text).toContain('6 steps only after')
    expect(text).toContain('steps in both')
    for (const name of ['Side by side', 'Animation', 'Diff']) {
      await page.getByRole('button', { name, exact: true }).click()
      expect(await page.locator('.flowdelta svg').count()).toBeGreaterThan(0)
    }
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show', async () => {
    const hostile = compareShops({}, { payUs: 2600 }).with({
      label: ({ operation, phase }) => `${operation} ${phase} ${HOSTILE}`,
    })
    const { page, problems } = await open([flows(hostile, 0)])
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(problems).toEqual([])
  })
})
