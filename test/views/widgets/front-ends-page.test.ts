import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { memoized } from '../../../src/core/remembered.ts'
import { stageTable } from '../../../src/core/stage.ts'
import { explore } from '../../../src/views/explore.ts'
import { connectCharts } from '../../../src/views/notebook/connect-charts.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { FRONT_ENDS, type FrontEnd, PLAIN } from './front-ends.ts'
import { describeInBrowser } from './open-widgets.ts'

connectCharts()
const comparison = compareShops({}, { payUs: 2600, payEvery: 2 })
const NAMES = Array.from({ length: 30 }, (_, row) => `service-${row}`)
const table = stageTable({ name: NAMES, calls: NAMES.map((_, row) => row * 1000) })

const widgets = () => [
  explore(table),
  explore(comparison, { opened: 1 }),
  explore(comparison, 'swimlanes'),
]

/** What front ends set of the elements that widgets are made of. */
const LOOKS =
  'background-color border-collapse border-top border-bottom color display font-family font-size ' +
  'font-weight line-height list-style-type margin max-width padding table-layout text-align vertical-align white-space'

/** How each element of the widgets looks, and where it lies within its widget. */
function looks(page: Page): Promise<readonly string[]> {
  return page.locator('.flowdelta').evaluateAll((all, names) => {
    return all.flatMap((widget) => {
      const from = widget.getBoundingClientRect()
      return [widget, ...widget.querySelectorAll('*')].map((element) => {
        const style = getComputedStyle(element)
        const { left, top, width, height } = element.getBoundingClientRect()
        const box = [left - from.left, top - from.top, width, height].map(Math.round)
        const values = names.map((name) => `${name}: ${style.getPropertyValue(name)}`)
        return `${element.tagName} ${element.className} at ${box}\n${values.join('\n')}`
      })
    })
  }, LOOKS.split(' '))
}

describeInBrowser('widgets in a page of', (open) => {
  const shown = async (frontEnd: FrontEnd, dark: boolean) => {
    const { page, problems } = await open(widgets(), { frontEnd, dark })
    expect(problems).toEqual([])
    return page
  }
  const plain = memoized((dark: boolean) => shown(PLAIN, dark).then(looks))

  test.each(Object.entries<FrontEnd>(FRONT_ENDS))('%s look as anywhere', async (name, frontEnd) => {
    const isDark = name.endsWith('dark')
    const expected = await plain(isDark)
    expect(expected.length).toBeGreaterThan(300)
    // The theme of the front end counts, and not that of the system; Notebook has none.
    const page = await shown(frontEnd, name !== 'notebook' && !isDark)
    expect(await looks(page)).toEqual(expected)
    expect(await page.locator('.flowdelta summary').count()).toBeGreaterThan(0)
    const own = await page.evaluate((around) => {
      const output = document.getElementsByClassName(around)[0] as HTMLElement
      output.insertAdjacentHTML('beforeend', '<table><tr><th>a</table>')
      return getComputedStyle(output.lastElementChild?.querySelector('th') as Element).textAlign
    }, frontEnd.around[1] ?? '')
    expect(own).toBe('right')
  })
})
