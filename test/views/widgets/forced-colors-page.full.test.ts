import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { explore } from '../../../src/index.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { CHANGED, flows, newCategory } from './flow-fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const comparison = compareShops({}, { payUs: 4000, archive: 0.3 })

/** What tells one element from another of its kind. */
const lookOf = (element: Locator) =>
  element.evaluate((it) => {
    const { backgroundColor, outlineStyle, outlineColor, borderTopWidth, color } =
      getComputedStyle(it)
    return { backgroundColor, outlineStyle, outlineColor, borderTopWidth, color }
  })

describeInBrowser('where the system sets all colours', (open) => {
  const show = async () => {
    const { page, problems } = await open([
      flows(CHANGED, newCategory(CHANGED)),
      explore(comparison, 'trace'),
      explore(comparison.with({ smPThreshold: 3 }), { threshold: true }),
    ])
    await page.emulateMedia({ forcedColors: 'active' })
    return { page, problems }
  }

  test('a pressed button is not like the others', async () => {
    const { page, problems } = await show()
    const pressed = await lookOf(page.locator('button[aria-pressed="true"]').first())
    const other = await lookOf(page.locator('button[aria-pressed="false"]').first())
    expect(pressed.backgroundColor).not.toBe(other.backgroundColor)
    expect([pressed.outlineStyle, other.outlineStyle]).toEqual(['solid', 'none'])
    expect(problems).toEqual([])
  })

  test('a selected row is not like the others', async () => {
    const { page } = await show()
    const row = (is: boolean) =>
      lookOf(page.locator(`.fd-gantt-row[aria-selected="${is}"] td`).first())
    expect((await row(true)).borderTopWidth).not.toBe((await row(false)).borderTopWidth)
    await page.locator('td button[aria-expanded]').first().click()
    const cell = (is: boolean) => lookOf(page.locator(`tr[aria-selected="${is}"] td`).first())
    expect((await cell(true)).borderTopWidth).not.toBe((await cell(false)).borderTopWidth)
  })

  test('drawings keep the colours that say something', async () => {
    const { page } = await show()
    const strokes = await page
      .locator('.fd-flow-surface path')
      .evaluateAll((lines) => [...new Set(lines.map((line) => getComputedStyle(line).stroke))])
    // Before and after.
    expect(strokes).toEqual(expect.arrayContaining(['rgb(230, 159, 0)', 'rgb(0, 114, 178)']))
    const letters = await page
      .locator('.fd-flow-surface text')
      .first()
      .evaluate((text) => [getComputedStyle(text).fill, getComputedStyle(document.body).color])
    expect(letters[0]).toBe(letters[1])
  })
})
