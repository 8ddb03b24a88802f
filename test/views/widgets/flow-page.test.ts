import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type { FlowsWidgetOptions } from '../../../src/views/widgets/flows/flow-scene.ts'
import { makeGraphs } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { CHANGED, flows, newCategory, pastedOptions } from './flow-fixture.ts'
import { describeInBrowser, focusedIn, type OpenOptions } from './open-widgets.ts'

const NUMBER = newCategory(CHANGED)

/** Names in boxes from top to bottom, those of several graphs one after the other. */
function namesIn(page: Page): Promise<string[]> {
  return page
    .locator('[data-step]')
    .evaluateAll((steps) => steps.map((step) => step.querySelector('text')?.textContent ?? ''))
}

/** What the line of code below the widget sets. */
async function stateOf(page: Page): Promise<FlowsWidgetOptions> {
  return pastedOptions((await page.locator('.fd-code code').textContent()) as string, CHANGED)
}

/** How far down boxes with a name begin, on the screen. */
async function topsOf(page: Page, name: string): Promise<number[]> {
  return page
    .locator('[data-step]')
    .evaluateAll(
      (steps, wanted) =>
        steps
          .filter((step) => step.querySelector('text')?.textContent === wanted)
          .map((step) => (step.querySelector('.fd-node') as Element).getBoundingClientRect().top),
      name,
    )
}

const transformOf = (page: Page) =>
  page.locator('.fd-flow-surface > g').getAttribute('transform') as Promise<string>
const scaleOf = async (page: Page) => Number(/scale\(([\d.]+)\)/.exec(await transformOf(page))?.[1])

describeInBrowser('the flow comparison in a page', (open) => {
  const show = async (options: Partial<FlowsWidgetOptions> = {}, how: OpenOptions = {}) =>
    open([flows(CHANGED, NUMBER, options)], how)

  test('switches between its three modes and says so in code', async () => {
    const { page, problems } = await show()
    expect(await namesIn(page)).toEqual(['3 steps in both', 'D', 'X', 'Y', 'E', 'F'])
    await page.getByRole('button', { name: 'Side by side' }).click()
    expect(await namesIn(page)).toEqual([
      '3 steps in both',
      'D',
      'E',
      'F',
      '3 steps in both',
      'X',
      'Y',
      'E',
      'F',
    ])
    expect(await page.locator('.fd-flow-like').count()).toBeGreaterThan(1)
    expect((await stateOf(page)).mode).toBe('side-by-side')
    await page.getByRole('button', { name: 'Animation' }).click()
    expect(await namesIn(page)).toEqual(['3 steps in both', 'D', 'E', 'F'])
    await page.getByRole('button', { name: 'After', exact: true }).click()
    expect(await namesIn(page)).toEqual(['3 steps in both', 'X', 'Y', 'E', 'F'])
    expect(await stateOf(page)).toMatchObject({ mode: 'animation', at: 1 })
    await page.getByRole('button', { name: 'Diff', exact: true }).click()
    expect(await page.locator('.fd-code code').textContent()).toBe(
      `explore(comparison, 'flows', { category: ${NUMBER} })`,
    )
    expect(problems).toEqual([])
  })

  test('plays the animation to its end, and can be stopped anywhere by the slider', {
    tags: 'full',
  }, async () => {
    const { page, problems } = await show({ mode: 'animation' })
    await page.getByLabel('Speed').selectOption('4')
    await page.getByRole('button', { name: 'On by one difference' }).click()
    await page.locator('.fd-code', { hasText: 'at: 0.5' }).waitFor()
    expect(await page.getByRole('button', { pressed: true }).allTextContents()).toContainEqual(
      expect.stringContaining('takes 2.94 ms longer'),
    )
    await page.getByRole('button', { name: 'Play' }).click()
    await page.locator('.fd-code', { hasText: 'at: 1' }).waitFor()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    await page.getByRole('slider').fill('0.6')
    expect((await stateOf(page)).at).toBe(0.6)
    // Named as in the list, in full, and nothing is chosen that nobody chose.
    const list = page.getByRole('list', { name: /^Differences/ })
    expect(await page.locator('.fd-flow-caption').textContent()).toBe(
      'Difference 2: X, Y instead of D, which takes 99.2 µs longer',
    )
    expect(await list.getByRole('button').nth(1).getAttribute('aria-pressed')).toBe('true')
    // D, in whose place X and Y have not come yet.
    expect(await page.locator('.fd-flow-ring').count()).toBe(1)
    await page.getByRole('button', { name: 'After', exact: true }).click()
    expect(await page.getByRole('button', { pressed: true }).allTextContents()).toEqual([
      'Animation',
      'After',
    ])
    expect(await page.locator('.fd-flow-ring').count()).toBe(0)
    expect(await page.locator('.fd-flow-details').textContent()).toMatch(/^Choose a step/)
    expect(problems).toEqual([])
  })

  test('stops at each difference instead of moving where less motion is wanted', async () => {
    const { page, problems } = await show({ mode: 'animation' })
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const shown = await page.evaluateHandle(() => {
      const root = document.querySelector('.flowdelta-host')?.shadowRoot as ShadowRoot
      const seen: [at: number, caption: string][] = []
      const look = () => {
        const at = Number(root.querySelector<HTMLInputElement>('.fd-flow-slider input')?.value)
        const caption = root.querySelector('.fd-flow-caption')?.textContent ?? ''
        const known = seen.at(-1)
        if (known?.[0] !== at || known[1] !== caption) seen.push([at, caption])
      }
      new MutationObserver(look).observe(root, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      })
      return seen
    })
    const whole = /^Play shows the differences/
    await page.getByLabel('Speed').selectOption('4')
    await page.getByRole('button', { name: 'On by one difference' }).click()
    await page.locator('.fd-code', { hasText: 'at: 0.5' }).waitFor()
    await page.getByRole('button', { name: 'Before', exact: true }).click()
    await page.getByRole('button', { name: 'Before', exact: true, pressed: true }).waitFor()
    const started = Date.now()
    await page.getByRole('button', { name: 'Play' }).click()
    await page.locator('.fd-code', { hasText: /at: 1\b/ }).waitFor()
    // Two differences, each for 1.8 s at four times the speed.
    expect(Date.now() - started).toBeGreaterThan(850)
    await page.getByRole('button', { name: 'Play' }).waitFor()
    const captions = (await shown.jsonValue()).slice(1)
    expect(captions).toEqual([
      [0.5, expect.stringMatching(/^Difference 1: .* takes 2.94 ms longer/)],
      [0, expect.stringMatching(whole)],
      [0.5, expect.stringMatching(/^Difference 1: /)],
      [1, expect.stringMatching(/^Difference 2: X, Y instead of D/)],
      [1, expect.stringMatching(whole)],
    ])
    expect(problems).toEqual([])
  })

  test('opens what is drawn as one by a click, and folds it back where it was', {
    tags: 'full',
  }, async () => {
    const { page, problems } = await show()
    const top = (await topsOf(page, '3 steps in both'))[0] as number
    await page.locator('[data-step="0:0"] .fd-node').click({ position: { x: 4, y: 4 } })
    expect(await namesIn(page)).toEqual(['A', 'B', 'C', 'D', 'X', 'Y', 'E', 'F'])
    // To half a pixel: boxes of groups have thicker borders.
    expect(Math.abs(((await topsOf(page, 'A'))[0] as number) - top)).toBeLessThan(0.5)
    expect((await stateOf(page)).opened).toEqual([0])
    await page.getByRole('button', { name: 'Fold back' }).click()
    expect(await namesIn(page)).toEqual(['3 steps in both', 'D', 'X', 'Y', 'E', 'F'])
    expect(problems).toEqual([])
  })

  test('is operated by keyboard alone: along the flow, open, fold', async () => {
    const { page, problems } = await show()
    await page.locator('[data-step][tabindex="0"]').focus()
    await page.keyboard.press('Enter')
    const focused = () => focusedIn(page).locator('text').first().textContent()
    expect(await focused()).toBe('A')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('C')
    expect(await page.locator('.fd-flow-details strong').textContent()).toBe('C')
    await page.keyboard.press('End')
    expect(await focused()).toBe('F')
    await page.keyboard.press('Home')
    await page.keyboard.press('Backspace')
    expect(await focused()).toBe('3 steps in both')
    expect((await stateOf(page)).opened).toEqual([])
    expect(problems).toEqual([])
  })

  test('shows levels: every step, groups', { tags: 'full' }, async () => {
    const { page, problems } = await show()
    await page.getByRole('combobox').selectOption('groups')
    expect(await namesIn(page)).toEqual(['3 steps in both', 'D', 'X · Y', 'E', 'F'])
    await page.getByRole('combobox').selectOption('steps')
    expect(await namesIn(page)).toHaveLength(8)
    expect((await stateOf(page)).level).toBe('steps')
    await page.getByRole('button', { name: 'Side by side' }).click()
    // One line for each of A, B, C, E and F.
    expect(await page.locator('.fd-flow-like').count()).toBe(5)
    expect(problems).toEqual([])
  })

  test('pins a step: both flows stand at one height there', { tags: 'full' }, async () => {
    const { page, problems } = await show({ mode: 'side-by-side' })
    const [before, after] = (await topsOf(page, 'F')) as [number, number]
    expect(after - before).toBeGreaterThan(30)
    await page.locator('[data-step="0:3"]').focus()
    await page.getByRole('button', { name: /^Pin/ }).click()
    const [one, other] = (await topsOf(page, 'F')) as [number, number]
    expect(Math.abs(one - other)).toBeLessThanOrEqual(1)
    expect((await stateOf(page)).pins).toEqual([7])
    await page.getByRole('button', { name: 'Unpin' }).first().click()
    expect((await stateOf(page)).pins).toEqual([])
    expect(problems).toEqual([])
  })

  test('zooms by wheel and buttons, moves by dragging, and stops at the border', {
    tags: 'full',
  }, async () => {
    const { page, problems } = await show({ level: 'steps' })
    const box = (await page.locator('.fd-flow-surface').boundingBox()) as {
      x: number
      y: number
      width: number
      height: number
    }
    const scale = await scaleOf(page)
    await page.mouse.move(box.x + box.width / 2 + 200, box.y + 200)
    await page.mouse.wheel(0, -300)
    await expect.poll(() => scaleOf(page)).toBeGreaterThan(scale * 1.2)
    await page.getByRole('button', { name: 'Whole' }).click()
    const whole = await scaleOf(page)
    const rest = await transformOf(page)
    await page.mouse.move(box.x + 60, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + 160, box.y + 560, { steps: 5 })
    expect(await transformOf(page)).not.toBe(rest)
    await page.mouse.up()
    await expect.poll(() => transformOf(page)).not.toContain('NaN')
    await expect
      .poll(async () => (await page.locator('[data-step="0:7"]').boundingBox())?.y ?? 1e9)
      .toBeLessThan(box.y + box.height)
    await page.getByRole('button', { name: 'Larger' }).click()
    expect(await scaleOf(page)).toBeGreaterThan(whole)
    // The ruler is as long as lines of these times are drawn now.
    const ruler = page.locator('.fd-flow-legend path[d^="M0 -4V4M0 0H"]').nth(1)
    const long = Number(/M0 0H([\d.]+)/.exec((await ruler.getAttribute('d')) ?? '')?.[1])
    expect(long / (await scaleOf(page))).toBeCloseTo(91, 0)
    const below = page.getByRole('button', { name: 'more below' })
    await page.getByRole('button', { name: 'Larger' }).click()
    while (await below.isVisible()) await below.click()
    expect((await page.locator('[data-step="0:7"]').boundingBox())?.y ?? 1e9).toBeLessThan(
      box.y + box.height,
    )
    expect(problems).toEqual([])
  })

  test('goes from difference to difference and says what each is', { tags: 'full' }, async () => {
    const { page, problems } = await show()
    const next = page.getByRole('button', { name: 'Next difference' })
    await next.click()
    expect(await page.locator('.fd-flow-count').textContent()).toBe('Difference 1 of 2')
    const details = (await page.locator('.fd-flow-details').textContent()) as string
    expect(details).toContain('Changed significantly (+2.94 ms); p < 1e-6')
    expect(details).toContain('80')
    await next.click()
    expect(await page.locator('.fd-flow-details').textContent()).toContain('X only after')
    expect(await page.locator('.fd-flow-ring').count()).toBe(3)
    await page.getByRole('button', { name: /^E → F takes/ }).click()
    expect(await page.locator('.fd-flow-details').textContent()).toContain('Changed significantly')
    expect(problems).toEqual([])
  })

  test('an edge answers to a click', { tags: 'full' }, async () => {
    const { page, problems } = await show()
    await page.locator('.fd-flow-label').last().click()
    expect(await page.locator('.fd-flow-details table').count()).toBe(1)
    expect(problems).toEqual([])
  })

  test('takes notes, and shows them again from the line of code', { tags: 'full' }, async () => {
    const { page, problems } = await show()
    await page.locator('[data-step="0:4"]').focus()
    await page.getByLabel('Mark').check()
    await page.getByLabel('Comment').fill(`cold cache${HOSTILE}`)
    const state = await stateOf(page)
    expect(state.annotations).toEqual([{ node: 6, mark: true, comment: `cold cache${HOSTILE}` }])
    expect(problems).toEqual([])
    const again = await show({ annotations: state.annotations })
    const list = again.page.getByRole('list', { name: 'Notes' })
    expect(await list.textContent()).toContain(`cold cache${HOSTILE}`)
    expect(await again.page.locator('[data-step="0:4"]').textContent()).toContain('★ 1')
    await list.getByRole('button', { name: /^Remove/ }).click()
    expect(await again.page.locator('.fd-code code').textContent()).toBe(
      `explore(comparison, 'flows', { category: ${NUMBER} })`,
    )
    expect(again.problems).toEqual([])
  })

  test('keeps notes when the page is loaded anew, beside those given', {
    tags: 'full',
  }, async () => {
    const { page, problems } = await show({ annotations: [{ node: 0, comment: 'given' }] })
    await page.locator('[data-step="0:4"]').focus()
    await page.getByLabel('Comment').fill('cold cache')
    await page.reload()
    const list = page.getByRole('list', { name: 'Notes' })
    await list.getByText('cold cache').waitFor()
    expect(await list.textContent()).toContain('given')
    await list
      .getByRole('button', { name: /^Remove/ })
      .last()
      .click()
    await page.reload()
    await list.getByText('given').waitFor()
    expect(await list.textContent()).not.toContain('cold cache')
    expect(problems).toEqual([])
  })

  test.each([
    { dark: true, width: 1100 },
    { dark: false, width: 500 },
  ])('nothing is cut off: %j', { tags: 'full' }, async (how) => {
    const { page, problems } = await show({ mode: 'side-by-side' }, how)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(how.width)
    const cut = await page.locator('.fd-flow-legend').evaluate((legend) => {
      const right = legend.getBoundingClientRect().right
      return [...legend.querySelectorAll('text')].filter(
        (text) => text.getBoundingClientRect().right > right + 1,
      ).length
    })
    expect(cut).toBe(0)
    expect(problems).toEqual([])
  })

  test('names from traces do nothing but show', { tags: 'full' }, async () => {
    const labels = ['A', `B${HOSTILE}`, 'C </script><img src=x onerror=alert(1)>']
    const graphs = Array.from({ length: 30 }, (_, i) => ({
      labels,
      edges: [[0, 1] as const, [1, 2] as const],
      latencyUs: [100 + i, 200 + i],
    }))
    const hostile = compare(makeGraphs(graphs, 'before'), makeGraphs(graphs, 'after'))
    const { page, problems } = await open([
      flows(hostile, 0, { level: 'steps' }),
      flows(hostile, 0, { level: 'steps', mode: 'side-by-side' }),
    ])
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.locator('.fd-flow-surface').first().textContent()).toContain(
      'C </script><img src=x onerror=alert(1)>',
    )
    expect(problems).toEqual([])
  })
})

describe('a page without scripts', () => {
  test('has the picture', () => {
    expect(flows(CHANGED, NUMBER).mimeBundle()['text/html']).toContain(
      '<img src="data:image/svg+xml;base64,',
    )
  })
})
