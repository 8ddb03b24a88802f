import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import type {
  PlacedVisit,
  SwimlaneData,
  SwimlaneOptions,
  SwimlaneSide,
} from '../../../src/views/widgets/swimlanes/swimlane-model.ts'
import {
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

const foldLanes = (data: SwimlaneData) => swimlaneLayout(data, null, 1000)

describe('folding lanes', () => {
  test('leaves those in sight together as they are', () => {
    const data = dataOf(calling(MAX_TRACKS - 1, (i) => `service ${i}`))
    const { lanes } = foldLanes(data)
    expect(lanes.map(({ name }) => name)).toEqual(data.lanes.map(({ name }) => name))
  })

  test('keeps the first lane and those with most critical work, the rest is one lane', () => {
    const data = dataOf(many)
    const { lanes, placeOf } = foldLanes(data)
    expect(lanes).toHaveLength(MAX_TRACKS)
    expect(lanes[0]?.name).toBe('web')
    expect(lanes.at(-1)?.name).toBe('… and 286 more lanes')
    expect(lanes.map(({ name }) => name)).toContain('service 299')
    const at = data.sides[0]?.visits.find(({ lane }) => lane === 'service 200')
    const { y, isShared } = placeOf(at as PlacedVisit)
    expect([y > (lanes.at(-1)?.top ?? 0), isShared]).toEqual([true, true])
  })

  test('draws what one component does too often at once on one line, and says so', () => {
    const data = dataOf(atOnce)
    expect(data.lanes[1]).toEqual({ name: 'db', tracks: 40 })
    const { lanes, placeOf } = foldLanes(data)
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

describe('the picture', () => {
  test('is bounded however many lanes there are, and says so', () => {
    const svg = show(many).svg()
    expect(Number(/height="(\d+)"/.exec(svg)?.[1])).toBeLessThan(1300)
    expect(svg).toContain('… and 286 more lanes')
  })
})

describeInBrowser('many lanes in a page', (open) => {
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
