import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { readOptions } from '../../../src/core/options.ts'
import { findCallingContexts } from '../../../src/explain/calling-contexts/find-calling-contexts.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { fittedText } from '../../../src/views/charts/text-width.ts'
import { explore } from '../../../src/views/explore.ts'
import { largestContexts } from '../../../src/views/widgets/calling-contexts/calling-contexts-widget.tsx'
import {
  ALL,
  CALLING_CONTEXT_OPTIONS,
  changeBounds,
  changeClass,
  changeText,
  layoutFrames,
  matchesSearch,
  missingFrames,
} from '../../../src/views/widgets/calling-contexts/frames.tsx'
import { exploreCode } from '../../../src/views/widgets/define-widget.ts'
import { compareShops, shopPeriod } from '../../compare/findings/fixture.ts'
import { makeSpans } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { describeInBrowser, focusedIn } from './open-widgets.ts'

const comparison = compareShops({}, { payUs: 4000, archive: 0.3 })
const contexts = findCallingContexts(comparison.flows)
const usual = readOptions(CALLING_CONTEXT_OPTIONS)
const numberOf = (service: string, name: string) =>
  contexts.contexts.findIndex((context) => context.service === service && context.name === name)

describe('the layout', () => {
  test('gives every frame at most the width of its caller, within it', () => {
    for (const widths of ['before', 'after'] as const) {
      for (const measure of ['time', 'requests'] as const) {
        const { frames } = layoutFrames(contexts, { ...usual, widths, measure })
        const byNumber = new Map(frames.map((frame) => [frame.context.context, frame]))
        for (const { context, x, width, row } of frames) {
          if (context.context === ALL) continue
          const caller = byNumber.get(context.parent)
          expect(caller?.row).toBe(row - 1)
          expect(x).toBeGreaterThanOrEqual((caller?.x ?? 1) - 1e-9)
          expect(x + width).toBeLessThanOrEqual((caller?.x ?? 0) + (caller?.width ?? 0) + 1e-9)
        }
      }
    }
  })

  test('is as wide as the mean time, of either period', () => {
    const [pay, lookup] = [numberOf('pay', 'CHARGE'), numberOf('stock', 'LOOKUP')]
    const share = (widths: 'before' | 'after') => {
      const { frames, whole } = layoutFrames(contexts, { ...usual, widths })
      const wide = (number: number) =>
        (frames.find(({ context }) => context.context === number)?.width ?? 0) * whole
      return [wide(pay), wide(lookup)]
    }
    const [before, after] = [share('before'), share('after')]
    expect(before[0]).toBeCloseTo(2000 / 3, -2)
    expect(after[0]).toBeCloseTo(4000 / 3, -2)
    expect(before[1]).toBeCloseTo(1000, -2)
    expect(after[1]).toBeCloseTo(1000, -2)
  })

  test('shows what is new only in the widths of after, and says so in those of before', () => {
    const archive = numberOf('archive', 'READ')
    const isDrawn = (widths: 'before' | 'after') =>
      layoutFrames(contexts, { ...usual, widths }).frames.some(
        ({ context }) => context.context === archive,
      )
    expect([isDrawn('before'), isDrawn('after')]).toEqual([false, true])
    expect(missingFrames(contexts, { widths: 'after', measure: 'time' }).count).toBe(0)
    const missing = missingFrames(contexts, { widths: 'before', measure: 'time' })
    expect(missing.count).toBe(1)
    expect(missing.amount).toBeGreaterThan(1000)
  })

  test('colours the same change in both directions', () => {
    const change = (widths: 'before' | 'after') =>
      layoutFrames(contexts, { ...usual, widths }).frames.find(
        ({ context }) => context.name === 'CHARGE',
      )?.change
    expect(change('before')).toBe(change('after'))
    expect(change('after')).toBeGreaterThan(500)
  })

  test('goes into a frame', () => {
    const focus = numberOf('pay', 'CHARGE')
    const [first] = layoutFrames(contexts, { ...usual, focus }).frames
    expect(first).toMatchObject({ row: 0, x: 0, width: 1 })
    expect(first?.context.context).toBe(focus)
  })
})

describe('the parts', () => {
  test('changes fall into round classes', () => {
    const scale = changeBounds(1480, 10_000)
    expect(scale).toEqual([20, 100, 500])
    const classes = [0, 19.9, 20, -20, 150, -501, 1480].map((change) => changeClass(scale, change))
    expect(classes.map((each) => each + 0)).toEqual([0, 0, 1, -1, 2, -3, 3])
  })

  test('changes of under a hundredth of a request are never coloured fully', () => {
    expect(changeClass(changeBounds(1, 10_000), 1)).toBe(0)
    expect(changeBounds(0, 0).every(Number.isFinite)).toBe(true)
  })

  test('the largest contexts come with all that calls them', () => {
    for (let limit = 1; limit <= contexts.contexts.length; limit++) {
      const kept = largestContexts(contexts, limit)
      expect(kept).toHaveLength(limit)
      const numbers = new Set(kept.map(({ context }) => context))
      for (const { parent } of kept) expect(parent < 0 || numbers.has(parent)).toBe(true)
    }
  })

  test('a search needs all its words, in any case', () => {
    const context = contexts.contexts[numberOf('pay', 'CHARGE')] as (typeof contexts.contexts)[0]
    const found = (search: string) => matchesSearch(context, search)
    expect(['charge', 'PAY ch', 'pay stock', ' '].map(found)).toEqual([true, true, false, false])
  })

  test('code names what is not as usual', () => {
    const code = (changes: object) =>
      exploreCode(CALLING_CONTEXT_OPTIONS, { ...usual, ...changes }, { name: 'mine', kind: null })
    expect(code({})).toBe('explore(mine)')
    expect(code({ widths: 'before', focus: 3, search: "it's", limit: 9 })).toBe(
      "explore(mine, { widths: 'before', focus: 3, search: 'it\\'s', limit: 9 })",
    )
  })

  test('changes are said with their sign', () => {
    expect(changeText('time', -1500)).toBe('−1.5 ms')
    expect([0.034, -0.001, 0].map((change) => changeText('requests', change))).toEqual([
      '+3 %',
      '−under 1 %',
      '0 %',
    ])
  })

  test('text is cut to its room, or left out', () => {
    expect(fittedText('frontend', 200, 12)).toBe('frontend')
    expect(fittedText('productcatalogservice', 80, 12)).toMatch(/^prod.*….{2,}$/)
    // What would be left says nothing.
    expect(fittedText('frontend', 45, 12)).toBe('')
    expect(fittedText('', 100, 12)).toBe('')
  })

  test('options are checked', () => {
    const wrong = (options: object) => () =>
      explore(comparison, 'calling-contexts', options as never)
    expect(wrong({ widths: 'both' })).toThrow(
      "Option widths is \"both\". Give 'after' or 'before'.",
    )
    expect(wrong({ focus: 999 })).toThrow('Option focus is 999.')
    expect(wrong({ limit: 0 })).toThrow('Option limit is 0.')
    expect(wrong({ width: 3 })).toThrow('There is no option width. Did you mean widths?')
    expect(() => explore({} as never)).toThrow(
      /^explore has no widget for \{\}\. Give a comparison/,
    )
  })
})

describe('without scripts', () => {
  test('it is a picture of the state it begins in, with its legend', () => {
    const svg = explore(comparison, 'calling-contexts').svg()
    expect(svg).toContain('pay CHARGE')
    expect(svg).toContain('Change per request, after − before, in its own work')
    expect(svg).not.toMatch(/NaN|undefined|var\(/)
  })

  test('one period alone has neither colours nor changes', () => {
    const one = findCallingContexts(buildFlows(shopPeriod({ requests: 30 })))
    const svg = explore(one).svg()
    expect(svg).toContain('mean of 30 requests')
    expect(svg).not.toMatch(/change/i)
  })

  test('nothing at all can be shown', () => {
    const none = findCallingContexts(buildFlows(makeSpans([])))
    expect(explore(none).svg()).not.toMatch(/NaN/)
  })
})

const frame = (page: Page, name: string) =>
  page.getByRole('treeitem', { name: new RegExp(`^${name}:`) })
const code = (page: Page) => page.locator('.fd-code code').innerText()

describeInBrowser('calling contexts in a page', (open) => {
  test('a click goes into a frame, the crumbs lead back', async () => {
    const { page, problems } = await open([explore(comparison, 'calling-contexts')])
    expect(await frame(page, 'stock LOOKUP').count()).toBe(1)
    await frame(page, 'shop call CHARGE').click()
    const focus = numberOf('shop', 'call CHARGE')
    expect(await code(page)).toBe(`explore(comparison, 'calling-contexts', { focus: ${focus} })`)
    expect(await frame(page, 'stock LOOKUP').count()).toBe(0)
    expect(await frame(page, 'pay CHARGE').count()).toBe(1)
    expect(await page.locator('.fd-crumbs button').allInnerTexts()).toEqual([
      'all requests',
      'shop GET',
      'shop call CHARGE',
    ])
    await page.locator('.fd-crumbs button').first().click()
    expect(await code(page)).toBe("explore(comparison, 'calling-contexts')")
    expect(await frame(page, 'stock LOOKUP').count()).toBe(1)
    expect(problems).toEqual([])
  })

  test('the keyboard does as well: arrows, Enter, Escape', async () => {
    const { page, problems } = await open([explore(comparison, 'calling-contexts')])
    await page.locator('[role=treeitem][tabindex="0"]').focus()
    await page.keyboard.press('ArrowDown')
    const focused = () => focusedIn(page).getAttribute('aria-label')
    expect(await focused()).toMatch(/^shop GET:/)
    await page.keyboard.press('ArrowDown')
    const first = await focused()
    await page.keyboard.press('ArrowRight')
    expect(await focused()).not.toBe(first)
    await page.keyboard.press('ArrowLeft')
    expect(await focused()).toBe(first)
    await page.keyboard.press('Enter')
    expect(await code(page)).toMatch(/focus: \d+/)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await code(page)).toBe("explore(comparison, 'calling-contexts')")
    expect(problems).toEqual([])
  })

  test('the other direction shows what went, and its numbers', async () => {
    const { page, problems } = await open([explore(comparison, 'calling-contexts')])
    expect(await frame(page, 'archive READ').count()).toBe(1)
    await page.getByRole('button', { name: 'before', exact: true }).click()
    expect(await frame(page, 'archive READ').count()).toBe(0)
    expect(await page.getByText(/chain of calls exists only after/).count()).toBe(1)
    await page.getByRole('button', { name: 'requests', exact: true }).click()
    await page.getByRole('button', { name: 'with all it calls' }).click()
    expect(await code(page)).toBe(
      "explore(comparison, 'calling-contexts', { widths: 'before', measure: 'requests', color: 'total' })",
    )
    await frame(page, 'pay CHARGE').hover()
    const rows = await page.locator('.fd-frame-details tbody tr').allInnerTexts()
    expect(rows.map((row) => row.split('\t')[0])).toEqual([
      'share of the request, its own work',
      'share of the request, with all it calls',
      'times called',
      'requests that have it',
    ])
    expect(rows[3]).toContain('100')
    expect(problems).toEqual([])
  })

  test('a search marks what it finds', async () => {
    const { page, problems } = await open([explore(comparison, 'calling-contexts')])
    await page.locator('input[type=search]').fill('charge')
    expect(await page.getByText(/^2 frames match/).count()).toBe(1)
    expect(await page.locator('.fd-frame[opacity="1"]').count()).toBe(2)
    await page.locator('input[type=search]').fill('nowhere')
    expect(await page.getByText('Nothing drawn matches.').count()).toBe(1)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show', async () => {
    const traces = makeSpans([
      { id: '1', service: HOSTILE, operation: HOSTILE, startUs: 0, endUs: 100 },
      { id: '2', parent: '1', service: HOSTILE, operation: HOSTILE, startUs: 10, endUs: 90 },
    ])
    const found = findCallingContexts(buildFlows([traces, traces]))
    const { page, problems } = await open([explore(found, { search: HOSTILE, focus: 1 })], {
      dark: true,
      width: 500,
    })
    expect(await page.locator('.flowdelta img, .flowdelta script').count()).toBe(0)
    expect(await page.locator('.fd-frame-details h3').innerText()).toContain('<img')
    expect(problems).toEqual([])
  })

  test('in a narrow page, drawings stay within', async () => {
    const { page, problems } = await open([explore(comparison, 'calling-contexts')], { width: 500 })
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    expect(problems).toEqual([])
  })
})
