import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import { signedDuration } from '../../../src/core/words.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { exploreThreshold } from '../../../src/views/widgets/threshold/explore-threshold.tsx'
import {
  thresholdCode,
  thresholdCurve,
  thresholdState,
} from '../../../src/views/widgets/threshold/threshold-model.ts'
import { describeInBrowser } from './open-widgets.ts'

const FOLDER = new URL('../../../datasets/storage-service/mds-prefetch/', import.meta.url).pathname
const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)

describe('the model', () => {
  test('counts at every threshold are those of comparisons with it', () => {
    const { thresholds, mutations, precursors } = thresholdCurve(comparison)
    for (const [i, smPThreshold] of thresholds.entries()) {
      const { structural } = comparison.with({ smPThreshold })
      expect([mutations[i], precursors[i]]).toEqual([
        structural.mutations.length,
        structural.precursors.length,
      ])
    }
    expect([mutations.at(-1), precursors.at(-1)]).toEqual([0, 0])
  })

  test('code names only what changed', () => {
    const from = thresholdState(comparison)
    expect(thresholdCode('comparison', from, from)).toBe('comparison')
    expect(thresholdCode('mine', from, { ...from, smPThreshold: 'auto', oneToN: false })).toBe(
      "mine.with({ smPThreshold: 'auto', oneToN: false })",
    )
  })

  test('options are checked', () => {
    expect(() => exploreThreshold(comparison, { limit: 0 })).toThrow('Option limit is 0.')
    expect(() => exploreThreshold(comparison, { rows: 3 } as never)).toThrow('rows')
  })
})

describe('without scripts', () => {
  test('it is a picture of the state it begins in', () => {
    const { 'text/html': html, 'image/svg+xml': svg } = exploreThreshold(comparison).mimeBundle()
    expect(html).toMatch(
      /^<div data-flowdelta-widget="[^"]+"><img src="data:image\/svg\+xml;base64,/,
    )
    expect(svg).toContain('threshold 50')
    const first = comparison.ranking.mutations[0]
    expect(svg).toContain(signedDuration(first?.contributionUs ?? 0))
  })
})

/** Rank, category and contribution of the rows that are shown. */
async function rowsOf(page: Page): Promise<string[]> {
  const rows = await page.locator('tbody tr').all()
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator('td').allInnerTexts()
      return [cells[0], /\((\d+)\)$/.exec(cells[1] ?? '')?.[1], cells[4]].join(' ')
    }),
  )
}

function expectedRows({ ranking }: Comparison): string[] {
  return ranking.mutations
    .slice(0, 10)
    .map(({ rank, category, contributionUs }) =>
      [rank, category, signedDuration(contributionUs)].join(' '),
    )
}

describeInBrowser('the threshold explorer in a page', (open) => {
  test('begins with the ranking of the comparison', async () => {
    const { page, problems } = await open([exploreThreshold(comparison)])
    expect(await rowsOf(page)).toEqual(expectedRows(comparison))
    expect(await page.locator('.fd-code code').innerText()).toBe('comparison')
    expect(problems).toEqual([])
  })

  test('dragging the slider gives what with() gives, all the way', async () => {
    const { page, problems } = await open([exploreThreshold(comparison)])
    const slider = page.locator('input[type=range]')
    const box = (await slider.boundingBox()) as {
      x: number
      y: number
      width: number
      height: number
    }
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.6, y)
    await page.mouse.down()
    const seen = new Set<number>()
    for (const share of [0.5, 0.4, 0.3, 0.2, 0.1, 0.02]) {
      await page.mouse.move(box.x + box.width * share, y)
      const smPThreshold = Number(await page.locator('input[type=number]').inputValue())
      seen.add(smPThreshold)
      expect(await rowsOf(page)).toEqual(expectedRows(comparison.with({ smPThreshold })))
      expect(await page.locator('.fd-code code').innerText()).toBe(
        `comparison.with({ smPThreshold: ${smPThreshold} })`,
      )
    }
    await page.mouse.up()
    expect(seen.size).toBe(6)
    expect(problems).toEqual([])
  })

  test('keys, level, correction, the 1:N rule and auto do as well', async () => {
    const { page, problems } = await open([exploreThreshold(comparison)])
    await page.locator('input[type=number]').fill('3')
    await page.getByLabel('level α').selectOption('0.001')
    await page.getByLabel('corrected').check()
    await page.getByLabel('1:N rule').uncheck()
    const options = { smPThreshold: 3, alpha: 0.001, correction: 'bh', oneToN: false } as const
    expect(await rowsOf(page)).toEqual(expectedRows(comparison.with(options)))
    await page.locator('input[type=range]').focus()
    await page.keyboard.press('ArrowRight')
    const stepped = Number(await page.locator('input[type=number]').inputValue())
    expect(stepped).toBe(4)
    await page.getByLabel('auto').check()
    const auto = comparison.with({ ...options, smPThreshold: 'auto' })
    expect(await rowsOf(page)).toEqual(expectedRows(auto))
    expect(await page.locator('.fd-code code').innerText()).toBe(
      "comparison.with({ smPThreshold: 'auto', alpha: 0.001, correction: 'bh', oneToN: false })",
    )
    expect(problems).toEqual([])
  })

  test('a mutation opens into its precursor candidates', async () => {
    const { page, problems } = await open([exploreThreshold(comparison)])
    await page.locator('button[aria-expanded]').first().click()
    const structural = comparison.ranking.mutations.find(({ kind }) => kind === 'structural')
    const shown = await page.locator('table').nth(1).locator('tbody tr').count()
    expect(shown).toBe(structural?.precursors.length)
    expect(problems).toEqual([])
  })

  test('in the dark too', async () => {
    const { problems } = await open([exploreThreshold(comparison)], {
      dark: true,
      width: 560,
    })
    expect(problems).toEqual([])
  })
})
