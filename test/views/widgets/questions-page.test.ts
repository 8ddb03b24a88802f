import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { findQuestions, teach } from '../../../src/explain/explosion/teach.ts'
import { explore } from '../../../src/views/explore.ts'
import { makeSpans } from '../../make-traces.ts'
import { describeInBrowser } from './open-widgets.ts'

const period = () =>
  makeSpans(
    Array.from({ length: 80 }, (_, i) => ({
      trace: `t${i}`,
      id: 'web',
      host: `web-${i % 2}`,
      startUs: i * 1000,
      endUs: i * 1000 + 100 + (i % 7),
    })),
  )
const comparison = compare(period(), period())
const questions = findQuestions(comparison)

test('the still and the widget ask what findQuestions asks', () => {
  expect(explore(questions).view).toBe('questions')
  expect(questions.questions).toHaveLength(1)
  expect(explore(questions).svg()).toContain('Are categories 0')
  expect(questions.text()).toContain('Then 1 category instead of 2')
})

describeInBrowser('questions in a page', (open) => {
  test('buttons answer, and the code learns from the answers', async () => {
    const { page, problems } = await open([explore(questions)])
    const code = () => page.locator('.fd-code code').innerText()
    expect(await code()).toBe('teach(comparison, [])')
    await page.getByRole('button', { name: 'the same', exact: true }).click()
    expect(await code()).toBe('teach(comparison, [{ one: 0, other: 1, same: true }])')
    await page.getByRole('button', { name: 'not the same' }).click()
    expect(await code()).toBe('teach(comparison, [{ one: 0, other: 1, same: false }])')
    await page.getByRole('button', { name: 'not sure' }).click()
    expect(await code()).toBe('teach(comparison, [])')
    expect(await page.locator('td').first().innerText()).toContain(
      'If so: Requests are the same if they differ only in hosts.',
    )
    expect(problems).toEqual([])
    expect(teach(comparison, [{ one: 0, other: 1, same: true }]).ignore).toEqual(['omit hosts'])
  })
})
