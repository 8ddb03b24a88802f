import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Contrast that letters of any size need (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5

interface Letters {
  readonly text: string
  readonly contrast: number
  readonly ink: string
  readonly behind: string
}

/** Every text in every chart, with the contrast to what is painted behind its middle. */
function lettersOf(page: Page): Promise<Letters[]> {
  // Locators look into shadow roots.
  return page.locator('svg text').evaluateAll((texts) => {
    const rootOf = (text: Element) => text.getRootNode() as Document | ShadowRoot
    for (const root of new Set(texts.map(rootOf))) {
      const style = document.createElement('style')
      style.textContent = 'svg * { pointer-events: all !important }'
      const place = root instanceof ShadowRoot ? root : document.head
      place.append(style)
    }
    const numbers = (color: string) => Array.from(color.matchAll(/[\d.]+/g), Number)
    const isPainted = (color: string) => {
      const [, , , opacity = 1] = numbers(color)
      return color !== 'none' && color !== '' && opacity > 0.5
    }
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = numbers(color).map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const backOf = (text: Element) => {
      text.scrollIntoView({ block: 'center', inline: 'center' })
      const { x, y, width, height } = text.getBoundingClientRect()
      for (const one of rootOf(text).elementsFromPoint(x + width / 2, y + height / 2)) {
        if (one.tagName === 'text' || one.tagName === 'tspan') continue
        const { fill, fillOpacity, opacity, backgroundColor } = getComputedStyle(one)
        const isShape = one instanceof SVGGeometryElement
        if (isShape && Number(fillOpacity) * Number(opacity) > 0.5 && isPainted(fill)) return fill
        if (!(one instanceof SVGElement) && isPainted(backgroundColor)) return backgroundColor
      }
      return 'rgb(255, 255, 255)'
    }
    const found: { text: string; contrast: number; ink: string; behind: string }[] = []
    for (const text of texts) {
      const { fill, opacity } = getComputedStyle(text)
      const isHalo = text.hasAttribute('stroke')
      // What has an outline is the halo of the same letters, which are drawn above it.
      if (text.textContent?.trim() === '' || Number(opacity) === 0 || isHalo) continue
      const behind = backOf(text)
      const [light, dark] = [luminance(fill), luminance(behind)].sort((a, b) => b - a)
      const contrast = (Number(light) + 0.05) / (Number(dark) + 0.05)
      found.push({ text: text.textContent ?? '', contrast, ink: fill, behind })
    }
    return found
  })
}

/** Expects letters to have enough contrast to what is behind them. */
export async function expectReadable(page: Page): Promise<Letters[]> {
  const letters = await lettersOf(page)
  expect(letters.length).toBeGreaterThan(5)
  expect(letters.filter(({ contrast }) => contrast < MIN_CONTRAST)).toEqual([])
  return letters
}

/**
 * Expects that no text of a picture is cut at its edge, at that of its place or of the page, and that none stands on
 * another. Places that scroll or can be dragged show a part of their content only.
 */
export async function expectApart(page: Page, name = ''): Promise<void> {
  const wrong = await page.locator('svg text').evaluateAll((texts) => {
    interface Box {
      readonly left: number
      readonly right: number
      readonly top: number
      readonly bottom: number
    }
    const overlap = (one: Box, other: Box): Box => ({
      left: Math.max(one.left, other.left),
      right: Math.min(one.right, other.right),
      top: Math.max(one.top, other.top),
      bottom: Math.min(one.bottom, other.bottom),
    })
    const size = ({ left, right, top, bottom }: Box) => [right - left, bottom - top] as const
    const root = document.documentElement
    const whole = { left: 0, right: root.clientWidth, top: 0, bottom: root.scrollHeight }
    /** What is seen of an element within the places around it, and whether some of these move. */
    const windowOf = (element: Element) => {
      let seen: Box = whole
      let isMoving = false
      for (let one: Element | null = element; one !== null; ) {
        const { overflowX, overflowY } = getComputedStyle(one)
        const isClipping = overflowX !== 'visible' || one instanceof SVGSVGElement
        if (isClipping && one !== root && one !== document.body) {
          seen = overlap(seen, one.getBoundingClientRect())
          isMoving ||= /auto|scroll/.test(overflowX + overflowY) || one.matches('.fd-flow-surface')
        }
        const parent = one.getRootNode()
        one = one.parentElement ?? (parent instanceof ShadowRoot ? parent.host : null)
      }
      return { seen, isMoving }
    }
    scrollTo(0, 0)
    const wrong: string[] = []
    const known: { text: string; box: Box }[] = []
    for (const element of texts) {
      const text = element.textContent?.trim() ?? ''
      const box = element.getBoundingClientRect()
      const isHalo = element.hasAttribute('stroke')
      const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      if (text === '' || isHalo || !isSeen || box.width === 0) continue
      const { seen, isMoving } = windowOf(element)
      const shown = overlap(box, seen)
      const [width, height] = size(shown)
      const isCut = box.width - width > 1 || box.height - height > 2
      if (isCut && !isMoving) wrong.push(`${text} is cut`)
      if (width <= 0 || height <= 0) continue
      for (const other of known) {
        const [x, y] = size(overlap(shown, other.box))
        // Boxes have room above and below letters.
        if (x > 2 && y > 4) wrong.push(`${text} stands on ${other.text}`)
      }
      known.push({ text, box: shown })
    }
    return wrong
  })
  expect.soft(wrong, name).toEqual([])
}

/** Waits until charts are drawn, and drawn anew. */
export async function settled(page: Page): Promise<void> {
  let known = -1
  for (let same = 0, looks = 0; same < 2 && looks < 40; looks++) {
    await page.waitForTimeout(200)
    const count = await page.locator('svg.marks text').count()
    same = count === known && count > 0 ? same + 1 : 0
    known = count
  }
}

/** Takes a picture of what is tested, where `FLOWDELTA_PICTURES` names a folder. */
export async function photographed(page: Page, name: string): Promise<void> {
  const folder = process.env['FLOWDELTA_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
