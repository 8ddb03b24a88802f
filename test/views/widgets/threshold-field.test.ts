import { expect, test } from 'vitest'
import { exploreThreshold } from '../../../src/views/widgets/threshold/explore-threshold.tsx'
import { standsLeft } from '../../../src/views/widgets/threshold/threshold-curve.tsx'
import { compareShops } from '../../compare/findings/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

test('the words beside a line stand where there is room and no other line', () => {
  const stands = (at: number, line: number | null) =>
    standsLeft(at, { length: 100, ends: [0, 600], line })
  expect(stands(300, null)).toBe(false)
  expect(stands(300, 350)).toBe(true)
  expect(stands(300, 250)).toBe(false)
  expect(stands(300, 500)).toBe(false)
  expect(stands(550, 580)).toBe(true)
  // Near the left end there is room on one side only.
  expect(stands(50, 80)).toBe(false)
})

describeInBrowser('the threshold as a number in a page', (open) => {
  const comparison = compareShops({}, { payUs: 4000, archive: 0.3 })

  test('what cannot be one is marked, and beside it stands what is used', async () => {
    const { page, problems } = await open([exploreThreshold(comparison)])
    const field = page.locator('input[type=number]')
    const words = page.locator('.fd-bar [aria-live]')
    await field.fill('18')
    await field.fill('-5')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await words.innerText()).toBe('not a number of requests; 18 is used')
    expect(await page.locator('.fd-code code').innerText()).toBe(
      'comparison.with({ smPThreshold: 18 })',
    )
    await field.blur()
    expect(await field.inputValue()).toBe('18')
    expect(await words.innerText()).toBe('')
    await field.fill('')
    expect(await words.innerText()).toContain('18 is used')
    await field.fill('3')
    expect(await field.getAttribute('aria-invalid')).toBe('false')
    expect(await page.locator('.fd-code code').innerText()).toContain('smPThreshold: 3')
    expect(problems).toEqual([])
  })
})
