import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { readOptions } from '../../../src/core/options.ts'
import { findCallingContexts } from '../../../src/explain/calling-contexts/find-calling-contexts.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  CALLING_CONTEXT_OPTIONS,
  chainEnds,
  changeBounds,
  changeClass,
  layoutFrames,
} from '../../../src/views/widgets/calling-contexts/frames.tsx'
import { compareShops } from '../../compare/findings/fixture.ts'
import { makeSpans } from '../../make-traces.ts'
import { describeInBrowser } from './open-widgets.ts'

/** Requests of which `web` calls `db` and `cache`, and nothing takes any time. */
const timeless = makeSpans(
  Array.from({ length: 20 }, (_, i) =>
    ['web', 'db', 'cache'].map((id) => ({
      trace: `t${i}`,
      id,
      startUs: i * 1000,
      endUs: i * 1000,
      ...(id === 'web' ? {} : { parent: 'web' }),
    })),
  ).flat(),
)
const still = compare(timeless, timeless)

/** One request in which every call makes another, 120 deep. */
const DEPTH = 120
const nested = makeSpans(
  Array.from({ length: DEPTH }, (_, i) => ({
    id: `n${i}`,
    operation: `call ${i}`,
    startUs: i,
    endUs: 10_000 - i,
    ...(i === 0 ? {} : { parent: `n${i - 1}` }),
  })),
)
const deep = compare(nested, nested)

describe('requests that took no time', () => {
  const contexts = findCallingContexts(still.flows)

  test('are divided evenly among what they call', () => {
    const { frames, whole } = layoutFrames(contexts, readOptions(CALLING_CONTEXT_OPTIONS))
    expect(whole).toBe(0)
    expect(frames.map(({ x, width }) => [x, width])).toEqual([
      [0, 1],
      [0, 1],
      [0, 0.5],
      [0.5, 0.5],
    ])
  })

  test('have no scale of changes, and no change', () => {
    expect(changeBounds(0, 0)).toEqual([])
    expect(changeClass(changeBounds(0, 0), 0)).toBe(0)
    expect(changeBounds(1e-9, 1e-9)).toEqual([])
  })

  test('are said to take none, in the picture too', () => {
    const svg = explore(still, 'calling-contexts').svg()
    expect(svg).not.toMatch(/NaN|Infinity|−0 µs/)
    expect(svg).toContain('Nothing here took any time after (20 requests)')
    expect(svg).toContain('No change: nothing took any time')
  })
})

describe('a long chain of calls', () => {
  test('is drawn as deep as can be looked at, and said to go on', () => {
    const svg = explore(deep, 'calling-contexts').svg()
    expect(Number(/height="(\d+)"/.exec(svg)?.[1])).toBeLessThan(750)
    expect(svg).toContain('… and 94 deeper rows with 94 frames.')
  })

  test('is told by its ends; leaving out a single link would save nothing', () => {
    const chain = [0, 1, 2, 3, 4, 5]
    const ends = { first: 2, last: 3 }
    expect(chainEnds(chain, ends)).toEqual({ first: chain, between: [], last: [] })
    const [first, between, last] = [
      [0, 1],
      [2, 3],
      [4, 5, 6],
    ]
    expect(chainEnds([...chain, 6], ends)).toEqual({ first, between, last })
  })
})

const codeOf = (page: Page) => page.locator('.fd-code code').innerText()

describeInBrowser('calling contexts in a page', (open) => {
  test('requests that took no time are drawn without a complaint', async () => {
    const { page, problems } = await open([explore(still, 'calling-contexts')])
    expect(await page.locator('[data-frame]').count()).toBe(4)
    expect(await page.locator('.flowdelta').innerText()).not.toContain('−0 µs')
    expect(problems).toEqual([])
  })

  test('deep rows are scrolled to, and the way back is short', async () => {
    const { page, problems } = await open([explore(deep, 'calling-contexts')])
    const frames = page.locator('.fd-frames')
    expect((await frames.boundingBox())?.height).toBeLessThan(640)
    expect(await page.locator('section > p').first().innerText()).toContain('121 rows: scroll')
    await page.locator('[data-frame="100"]').click()
    expect(await codeOf(page)).toContain('focus: 100')
    expect(await frames.evaluate(({ scrollTop }) => scrollTop)).toBe(0)
    expect(await page.locator('.fd-crumbs').innerText()).toContain('93 more callers')
    expect(await page.locator('.fd-crumbs button').count()).toBe(9)
    expect(problems).toEqual([])
  })

  test('selecting the text of a frame does not go into it, a click does', async () => {
    const { page, problems } = await open([explore(compareShops({}, {}), 'calling-contexts')])
    const frame = page.locator('[data-frame="1"]')
    const text = (await frame.locator('text').first().boundingBox()) as {
      x: number
      y: number
      width: number
      height: number
    }
    await page.mouse.move(text.x + 2, text.y + text.height / 2)
    await page.mouse.down()
    await page.mouse.move(text.x + text.width - 2, text.y + text.height / 2, { steps: 4 })
    await page.mouse.up()
    expect((await page.evaluate(() => `${getSelection()}`)).length).toBeGreaterThan(3)
    expect(await codeOf(page)).toBe("explore(comparison, 'calling-contexts')")
    await frame.click({ position: { x: 276, y: 10 } })
    expect(await codeOf(page)).toBe("explore(comparison, 'calling-contexts', { focus: 1 })")
    expect(problems).toEqual([])
  })
})
