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

/** Expects that no text of a picture is cut at its edge and that none stands on another. */
export async function expectApart(page: Page): Promise<void> {
  const wrong = await page.locator('svg text').evaluateAll((texts) => {
    const overlap = (from: DOMRect, to: DOMRect) => {
      const x = Math.min(from.right, to.right) - Math.max(from.left, to.left)
      const y = Math.min(from.bottom, to.bottom) - Math.max(from.top, to.top)
      // Boxes have room above and below letters.
      return x > 2 && y > 4
    }
    const wrong: string[] = []
    const seen: { text: string; box: DOMRect }[] = []
    for (const element of texts) {
      const text = element.textContent?.trim() ?? ''
      const box = element.getBoundingClientRect()
      const picture = element.closest('svg')
      const isHalo = element.hasAttribute('stroke')
      const isHidden = Number(getComputedStyle(element).opacity) === 0 || box.width === 0
      if (picture === null || text === '' || isHalo || isHidden) continue
      const edge = picture.getBoundingClientRect()
      const isCut =
        box.left < edge.left - 1 ||
        box.right > edge.right + 1 ||
        box.top < edge.top - 2 ||
        box.bottom > edge.bottom + 2
      if (isCut) wrong.push(`${text} is cut`)
      for (const other of seen)
        if (other.text !== text && overlap(box, other.box))
          wrong.push(`${text} stands on ${other.text}`)
      seen.push({ text, box })
    }
    return wrong
  })
  expect(wrong).toEqual([])
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
