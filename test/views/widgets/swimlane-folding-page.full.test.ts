import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import type {
  PlacedVisit,
  SwimlaneData,
  SwimlaneOptions,
  SwimlaneSide,
} from '../../../src/views/widgets/swimlanes/swimlane-model.ts'
import {
  drawnItems,
  MAX_TRACKS,
  swimlaneLayout,
} from '../../../src/views/widgets/swimlanes/swimlanes-widget.tsx'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { describeInBrowser, focusedIn } from './open-widgets.ts'
import { swimlanes } from './swimlanes-fixture.ts'

/** `web` calls so many times, one call after the other; of services of their own, or one. */
function calling(count: number, serviceOf: (call: number) => string, extraUs = 0) {
  const calls = Array.from({ length: count }, (_, i): SpanSketch => {
    const startUs = 100 + 100 * i
    // The last call of all is what takes long.
    const endUs = startUs + (i === count - 1 ? 60 + extraUs : 60)
    return { id: `c${i}`, parent: 'web', service: serviceOf(i), operation: 'READ', startUs, endUs }
  })
  return makeSpans([{ id: 'web', startUs: 0, endUs: 200 + 100 * count + extraUs }, ...calls])
}

const show = (traces: ReturnType<typeof calling>, options: Partial<SwimlaneOptions> = {}) =>
  swimlanes(compare(traces, traces), 't', options)
const dataOf = (traces: ReturnType<typeof calling>) =>
  (show(traces).data as { data: SwimlaneData }).data
const many = calling(300, (i) => `service ${i}`, 5000)
const atOnce = makeSpans([
  { id: 'web', startUs: 0, endUs: 1000 },
  ...Array.from({ length: 40 }, (_, i) => ({
    id: `c${i}`,
    parent: 'web',
    service: 'db',
    startUs: 100 + i,
    endUs: 900 + i,
  })),
])

const foldLanes = (data: SwimlaneData, { folded }: { readonly folded: boolean }) =>
  swimlaneLayout(data, { arrangement: 'below', range: null, folded }, 1000)

describe('folding lanes', () => {
  test('leaves those in sight together as they are', () => {
    const data = dataOf(calling(MAX_TRACKS - 1, (i) => `service ${i}`))
    const { lanes, isLong } = foldLanes(data, { folded: true })
    expect(lanes.map(({ name }) => name)).toEqual(data.lanes.map(({ name }) => name))
    expect(isLong).toBe(false)
  })

  test('keeps the first lane and those with most critical work, the rest is one lane', () => {
    const data = dataOf(many)
    const { lanes, placeOf } = foldLanes(data, { folded: true })
    expect(lanes).toHaveLength(MAX_TRACKS)
    expect(lanes[0]?.name).toBe('web')
    expect(lanes.at(-1)?.name).toBe('… and 286 more lanes')
    expect(lanes.map(({ name }) => name)).toContain('service 299')
    const at = data.sides[0]?.visits.find(({ lane }) => lane === 'service 200')
    const { y, isShared } = placeOf(at as PlacedVisit)
    expect([y > (lanes.at(-1)?.top ?? 0), isShared]).toEqual([true, true])
  })

  test('loses nothing: unfolded every lane is there', () => {
    const data = dataOf(many)
    const { lanes, isLong } = foldLanes(data, { folded: false })
    expect(lanes).toHaveLength(301)
    expect(isLong).toBe(true)
  })

  test('draws what one component does too often at once on one line, and says so', () => {
    const data = dataOf(atOnce)
    expect(data.lanes[1]).toEqual({ name: 'db', tracks: 40 })
    const { lanes, placeOf } = foldLanes(data, { folded: true })
    expect(lanes[1]).toMatchObject({
      name: 'db (+35)',
      title: 'db: 36 of its 40 lines are drawn as one',
      tracks: 5,
    })
    const { visits } = data.sides[0] as SwimlaneSide
    const [first, last] = [placeOf(visits[1] as PlacedVisit), placeOf(visits[30] as PlacedVisit)]
    expect([first.isShared, last.isShared]).toEqual([false, true])
    expect(last.y - first.y).toBe(4 * 24)
  })
})

describe('messages that crowd', () => {
  const [side] = dataOf(calling(1000, () => 'db')).sides as [SwimlaneSide]
  const placeOf = ({ lane }: PlacedVisit) => ({ y: lane === 'web' ? 0 : 40, isShared: false })

  test('are drawn as one where they would lie upon each other, and counted', () => {
    const drawn = drawnItems(side, { range: [0, 100_200], placeOf }, 800)
    expect(drawn.messages).toBe(2000)
    const left = drawn.items.filter((item) => 'message' in item).length
    expect(left).toBeLessThanOrEqual(300)
    expect(left + drawn.leftOut).toBe(2000)
    expect(drawn.items.filter((item) => 'visit' in item)).toHaveLength(1001)
  })

  test('are all there in a part of the time that has room', () => {
    const drawn = drawnItems(side, { range: [0, 2000], placeOf }, 800)
    expect([drawn.messages, drawn.leftOut, drawn.isDense]).toEqual([39, 0, false])
  })

  test('are the critical ones', () => {
    const [first, second] = side.messages
    const pair = [first, { ...second, ...first, isCritical: false }] as SwimlaneSide['messages']
    const critical = pair.map((each, i) => ({ ...each, isCritical: i === 1 }))
    const { items } = drawnItems(
      { visits: side.visits, messages: critical },
      { range: [0, 100_200], placeOf },
      800,
    )
    expect(items.flatMap(({ key }) => (key.startsWith('message') ? [key] : []))).toEqual([
      'message-1',
    ])
  })
})

describe('the picture', () => {
  test('is bounded however many lanes there are, and says what it leaves out', () => {
    for (const options of [{}, { folded: false }]) {
      const svg = show(many, options).svg()
      expect(Number(/height="(\d+)"/.exec(svg)?.[1])).toBeLessThan(1300)
      expect(svg).toContain('… and 286 more lanes')
    }
    const sequential = show(calling(1000, () => 'db')).svg()
    expect(/[\d,]+ of 2,000 messages left out/.exec(sequential)?.[0]).toBe(
      '1,856 of 2,000 messages left out',
    )
  })

  test('cannot be half folded', () => {
    expect(() => show(many, { folded: 'half' } as never)).toThrow(
      'Option folded is "half". Give true or false.',
    )
  })
})

describeInBrowser('many lanes in a page', (open) => {
  test('are folded, open by a button, and scroll in a window with the times in sight', async () => {
    const { page, problems } = await open([show(many)])
    const lanes = page.locator('.fd-lane-window')
    const code = page.locator('.fd-code code')
    expect((await lanes.boundingBox())?.height).toBeLessThanOrEqual(640)
    expect(await lanes.textContent()).toContain('… and 286 more lanes')
    await page.getByRole('button', { name: 'show all 301 lanes' }).click()
    expect(await code.innerText()).toBe(
      "explore(comparison, 'swimlanes', { traces: 't', folded: false })",
    )
    await lanes.evaluate((element) => {
      element.scrollTop = 4000
    })
    const [window, axis] = await Promise.all(
      [lanes, page.locator('.fd-lane-axis')].map((each) => each.boundingBox()),
    )
    expect((window?.y ?? 0) + (window?.height ?? 0)).toBeCloseTo(
      (axis?.y ?? 0) + (axis?.height ?? 0),
      0,
    )
    await page.getByRole('button', { name: 'fold lanes' }).click()
    expect(await code.innerText()).toBe("explore(comparison, 'swimlanes', { traces: 't' })")
    expect(problems).toEqual([])
  })

  test('arrow keys go along what is drawn', async () => {
    const { page, problems } = await open([show(calling(1000, () => 'db'))])
    await page.locator('.fd-lane-item[tabindex="0"]').first().focus()
    const at = () => focusedIn(page).getAttribute('data-item')
    const seen = new Set([await at()])
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('ArrowRight')
      seen.add(await at())
    }
    expect(seen.size).toBe(13)
    expect(problems).toEqual([])
  })
})
