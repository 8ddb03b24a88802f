import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { firstSight, partBeyond } from '../../../src/views/widgets/flows/flow-canvas.tsx'
import { dashesAlong } from '../../../src/views/widgets/flows/flow-graph.tsx'
import type { FlowDrawing } from '../../../src/views/widgets/flows/flow-placement.ts'
import type { FlowsWidgetOptions } from '../../../src/views/widgets/flows/flow-scene.ts'
import { flow } from '../../explain/flow-pair/fixture.ts'
import { makeGraphs, makeSpans, type SpanSketch } from '../../make-traces.ts'
import { CHANGED, flows, newCategory } from './flow-fixture.ts'
import { describeInBrowser, type OpenOptions } from './open-widgets.ts'

/** A fork into so many branches that join again; in the last of them one latency grows. */
function fork(branches: number) {
  const edges = Array.from({ length: branches }, (_, i) => `A>B${i} B${i}>C${i} C${i}>D`).join(' ')
  const slow = `B${branches - 1}>C${branches - 1}`
  const period = (us: number, seed: number) =>
    makeGraphs(flow({ edges, latencyUs: { [slow]: us } }, { seed }), `period ${seed}`)
  return compare(period(2000, 1), period(4000, 2))
}

const wide = fork(60)

/** Spans called at once, that vary: latencies differ much but not significantly. */
function calledAtOnce(calls: number, seed: number, extraUs: number) {
  const random = randomSource(seed)
  const requests = Array.from({ length: 12 }, (_, i): SpanSketch[] => {
    const [trace, startUs] = [`t${i}`, i * 1e6]
    const called = Array.from({ length: calls }, (__, call) => ({
      trace,
      id: `c${call}`,
      parent: 'web',
      startUs: startUs + 100,
      endUs: startUs + 1000 + 2000 * random.next() + (call % 10 === 0 ? extraUs : 0),
    }))
    return [{ trace, id: 'web', startUs, endUs: startUs + 5000 + extraUs }, ...called]
  })
  return makeSpans(requests.flat(), `period ${seed}`)
}
const varying = compare(calledAtOnce(60, 1, 0), calledAtOnce(60, 2, 1500))

describe('dashes', () => {
  const along = (length: number) => [
    { x: 0, y: 0 },
    { x: length, y: 0 },
  ]

  test('are as they are on a usual line', () => {
    expect(dashesAlong('2 4', along(700))).toBe('2 4')
  })

  test('are longer on a long one, so that there are never more than 120', () => {
    expect(dashesAlong('2 4', along(7200))).toBe('20 40')
  })

  test.each(['diff', 'side-by-side'] as const)(
    'of a wide flow are few on every line: %s',
    (mode) => {
      const svg = flows(varying, 0, { level: 'steps', mode }).svg()
      const counts = [
        ...svg.matchAll(/<path d="([ML\d. -]+)"[^>]*stroke-dasharray="([^"]+)"/g),
      ].map(([, way = '', pattern = '']) => {
        const points = way
          .split(/[ML]/)
          .slice(1)
          .map((point) => point.split(' ').map(Number))
        const length = points.reduce((sum, [x = 0, y = 0], i) => {
          const [lastX = x, lastY = y] = points[i - 1] ?? []
          return sum + Math.hypot(x - lastX, y - lastY)
        }, 0)
        const [dash = 0, gap = 0] = pattern.split(' ').map(Number)
        return length / (dash + gap)
      })
      expect(counts.length).toBeGreaterThan(20)
      expect(Math.max(...counts)).toBeLessThan(123)
    },
  )
})

describe('what is seen of two flows beside each other at first', () => {
  const size = { width: 1048, height: 620, contentHeight: 500 }

  test('is both, as long as letters are 6 pixels high', () => {
    const { k, x } = firstSight({ ...size, contentWidth: 1700 }, { isBeside: true })
    expect(k).toBeCloseTo(1000 / 1700)
    expect(x).toBe(24)
    expect(11 * k).toBeGreaterThan(6)
    expect(firstSight({ ...size, contentWidth: 1700 }).k).toBe(0.62)
  })

  test('is where the first begins, larger, where both would be too small', () => {
    const { k, x } = firstSight({ ...size, contentWidth: 9000 }, { isBeside: true, rootX: 2000 })
    expect(k).toBe(0.62)
    expect(x + k * 2000).toBe(524)
  })

  test('tells which of the two is out of the window', () => {
    const part = (x: number) => ({ x, width: 1000 })
    const drawing = { parts: [part(0), part(1100)] } as unknown as FlowDrawing
    const beyond = (x: number) => partBeyond(drawing, { width: 1000 }, { k: 1, x, y: 0 })
    expect([beyond(0), beyond(-500), beyond(-600), beyond(-1100)]).toEqual([1, 1, 0, 0])
    expect(partBeyond(drawing, { width: 2100 }, { k: 1, x: 0, y: 0 })).toBe(null)
    expect(partBeyond(drawing, { width: 2000 }, { k: 1, x: 0, y: 0 })).toBe(null)
    expect(partBeyond(drawing, { width: 1600 }, { k: 1, x: 0, y: 0 })).toBe(1)
  })
})

test('a mode that is none is answered with all modes', () => {
  expect(() => flows(CHANGED, 0, { mode: 'difference' as never })).toThrow(
    "Option mode is \"difference\". Give 'side-by-side', 'diff', 'animation' or null.",
  )
})

describeInBrowser('a wide flow in a page', (open) => {
  const show = (options: Partial<FlowsWidgetOptions>, how: OpenOptions = {}) =>
    open([flows(wide, 0, { level: 'steps', ...options })], how)

  test('a turn of the wheel moves the drawing and draws nothing again', async () => {
    const { page, problems } = await show({})
    const changed = await page.locator('.fd-flow-surface').evaluate(async (surface) => {
      const seen = new Set<string>()
      const observer = new MutationObserver((records) => {
        for (const { target, attributeName, type } of records) {
          seen.add(`${type} ${attributeName} of ${(target as Element).tagName}`)
        }
      })
      observer.observe(surface, { subtree: true, childList: true, attributes: true })
      const { left, top } = surface.getBoundingClientRect()
      for (let turn = 0; turn < 6; turn++) {
        const at = { clientX: left + 300, clientY: top + 100, bubbles: true, cancelable: true }
        surface.dispatchEvent(new WheelEvent('wheel', { deltaY: -120, ...at }))
        await new Promise(requestAnimationFrame)
      }
      // The wheel is said to rest a moment later.
      await new Promise((resolve) => setTimeout(resolve, 500))
      observer.disconnect()
      return [...seen]
    })
    expect(changed).toEqual(['attributes transform of g'])
    expect(problems).toEqual([])
  })

  test('a difference is gone to so near that it can be read, and nothing around jumps', async () => {
    const { page, problems } = await show({}, { width: 960 })
    await page.getByRole('button', { name: 'Whole' }).click()
    const surface = page.locator('.fd-flow-surface')
    expect(await surface.getAttribute('class')).toContain('fd-flow-far')
    const top = (await surface.boundingBox())?.y
    const count = page.locator('.fd-flow-count')
    const width = (await count.boundingBox())?.width
    await page.getByRole('button', { name: 'Next difference' }).click()
    expect((await surface.boundingBox())?.y).toBe(top)
    expect((await count.boundingBox())?.width).toBe(width)
    const label = page.locator('.fd-flow-label[font-weight="bold"]').first()
    const [box, window] = await Promise.all([label.boundingBox(), surface.boundingBox()])
    expect(box?.height).toBeGreaterThan(9)
    expect(Math.abs((box?.x ?? 0) - (window?.x ?? 0) - 480)).toBeLessThan(200)
    expect(problems).toEqual([])
  })

  test('beside each other, the one out of sight is a click away', async () => {
    const { page, problems } = await show({ mode: 'side-by-side' })
    const boxOf = (part: number) => page.locator(`[data-step="${part}:0"]`).boundingBox()
    const window = (await page.locator('.fd-flow-surface').boundingBox()) as { width: number }
    expect((await boxOf(0))?.x).toBeLessThan(window.width)
    expect((await boxOf(1))?.x).toBeGreaterThan(window.width)
    await page.getByRole('button', { name: 'after →' }).click()
    expect((await boxOf(1))?.x).toBeLessThan(window.width)
    await page.getByRole('button', { name: '← before' }).click()
    expect((await boxOf(0))?.x).toBeGreaterThan(0)
    expect(problems).toEqual([])
  })
})

describeInBrowser('a flow in a page', (open) => {
  const number = newCategory(CHANGED)

  test('says that lengths are not in proportion', async () => {
    const { page } = await open([flows(CHANGED, number)])
    expect(await page.locator('.fd-flow-legend').textContent()).toContain('not in proportion')
  })

  test('text of changes has a contrast of 4.5, in the picture too', async () => {
    const { page } = await open([flows(CHANGED, number)])
    const label = page.locator('.fd-flow-label[font-weight="bold"]').first()
    const fill = await label.evaluate((text) => getComputedStyle(text).fill)
    expect(contrastToWhite((fill.match(/\d+/g) ?? []).map(Number))).toBeGreaterThan(4.5)
    const drawn = /class="fd-flow-label"[^>]*font-weight="bold"[^>]*fill:#(\w{6})/.exec(
      flows(CHANGED, number).svg(),
    )?.[1] as string
    const parts = [0, 2, 4].map((at) => Number.parseInt(drawn.slice(at, at + 2), 16))
    expect(contrastToWhite(parts)).toBeGreaterThan(4.5)
  })

  test('a comment that turns text around turns nothing but itself, and shows in code', async () => {
    const comment = 'slow \u202etxet denrut'
    const { page, problems } = await open([
      flows(CHANGED, number, { annotations: [{ node: 0, comment }] }),
    ])
    expect(
      await page.getByRole('list', { name: 'Notes' }).locator('bdi').last().textContent(),
    ).toBe(comment)
    const code = page.locator('.fd-code code')
    expect(await code.textContent()).toContain("comment: 'slow \\u202etxet denrut'")
    expect(await code.evaluate((element) => getComputedStyle(element).unicodeBidi)).toBe('isolate')
    expect(problems).toEqual([])
  })
})

/** WCAG 2.2, of red, green and blue from 0 to 255. */
function contrastToWhite(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}
