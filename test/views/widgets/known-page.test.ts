import { expect, test } from 'vitest'
import { explore, proposeNames, teach } from '../../../src/index.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

const comparison = compareShops({ archive: 0.3 }, { archive: 0.3, stockUs: 1500 })
const ann = { by: 'Ann', at: '2026-09-03T10:00Z' }
const part = proposeNames(comparison).things.find(({ what }) => what.startsWith('call READ'))
const told = comparison.with({
  knowledge: teach(comparison, [
    { about: 'service:stock', text: 'Cached since May.', ...ann },
    { about: part?.about ?? '', name: 'look into the archive', ...ann },
  ]),
})

describeInBrowser('what people know in a page', (open) => {
  test('notes stand on the flow beside those of the reader, who cannot remove them there', {
    tags: 'full',
  }, async () => {
    const annotations = [{ node: 0, comment: 'mine' }]
    const { page, problems } = await open([
      explore(told, 'flows', { category: 0, level: 'steps', annotations }),
    ])
    const items = await page.getByRole('list', { name: 'Notes' }).locator('li').allTextContents()
    expect(items).toEqual([
      'Note on stock LOOKUP call on 2026-09-03 by Ann: Cached since May. ',
      'Note on shop GET call mine ✕',
    ])
    const step = page.locator('[data-step]', { hasText: '1 stock LOOKUP call: on 2026-09-03' })
    expect(await step.count()).toBe(1)
    expect(problems).toEqual([])
  })

  test('the ranking has a column for what kinds of request mean, to sort and filter', {
    tags: 'full',
  }, async () => {
    const { page, problems } = await open([explore(told)])
    await page.getByLabel('Only mutations with').fill('into the archive')
    expect(await page.getByRole('table', { name: 'Ranked mutations' }).textContent()).toMatch(
      /meaning.*look into the archive/s,
    )
    expect(problems).toEqual([])
  })
})
