import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expectApart, expectReadable } from '../readable.ts'
import { describeWithBrowser } from '../widgets/open-widgets.ts'

const NOTEBOOKS = new URL('../../../notebooks/', import.meta.url)

interface Output {
  readonly data?: Readonly<Record<string, string | readonly string[]>>
}

interface Notebook {
  readonly cells: readonly { readonly outputs?: readonly Output[] }[]
}

/** The pictures that a notebook's outputs store. */
function picturesOf(file: string): string[] {
  const { cells }: Notebook = JSON.parse(readFileSync(new URL(file, NOTEBOOKS), 'utf8'))
  const outputs = cells.flatMap(({ outputs = [] }) => outputs)
  return outputs.flatMap(({ data }) => {
    const picture = data?.['image/svg+xml']
    return picture === undefined ? [] : [[picture].flat().join('')]
  })
}

/** Pages that run no script, as GitHub's, show the stored picture alone. */
describeWithBrowser('stored pictures', (browser) => {
  const files = readdirSync(NOTEBOOKS).filter((name) => name.endsWith('.ipynb'))

  test.each(files)('of %s can be read on a dark page that runs no script', async (file) => {
    const pictures = picturesOf(file)
    expect(pictures.length).toBeGreaterThan(0)
    const page = await browser().newPage({ viewport: { width: 1400, height: 1000 } })
    for (const picture of pictures) {
      await page.setContent(`<body style="margin: 0; background: #0d1117">${picture}</body>`)
      await expectReadable(page)
      await expectApart(page)
    }
    await page.close()
  })
})
