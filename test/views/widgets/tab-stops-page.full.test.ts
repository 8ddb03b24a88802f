import { expect, test } from 'vitest'
import { explore } from '../../../src/views/explore.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { flows } from './flow-fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const shops = compareShops({}, { payUs: 2600 })

describeInBrowser('drawings', (open) => {
  test.each([
    ['flows', () => flows(shops, 0, { level: 'steps' }), '.fd-flow-thing'],
    ['swimlanes', () => explore(shops, 'swimlanes', { category: 0 }), '.fd-lane-item'],
    ['calling contexts', () => explore(shops, 'calling-contexts'), '[role=treeitem]'],
  ] as const)(
    '%s are one stop of the Tab key each; arrows go on within',
    async (_, make, items) => {
      const { page, problems } = await open([make()])
      const stops = await page
        .locator(items)
        .evaluateAll((elements) => elements.map((element) => (element as SVGElement).tabIndex))
      expect(stops.length).toBeGreaterThan(2)
      // Swimlanes of before and of after are two drawings.
      expect(stops.filter((stop) => stop === 0).length).toBeLessThanOrEqual(2)
      expect(problems).toEqual([])
    },
  )
})
