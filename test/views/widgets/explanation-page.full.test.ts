import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import { type Explanation, pathSentence } from '../../../src/explain/parameters/explanation.ts'
import type { ParameterQuestionName } from '../../../src/explain/parameters/parameter-question.ts'
import { groupsOf } from '../../../src/views/charts/parameter-differences.ts'
import { treeRows } from '../../../src/views/drawing/parameter-tree.tsx'
import { explore } from '../../../src/views/explore.ts'
import { compareRequests, type RequestSketch, requests } from '../../explain/parameters/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { mixed, recorded, rmw } from './explanation-fixture.ts'
import { describeInBrowser, focusedIn } from './open-widgets.ts'

const config = await recorded('mds-config')

/** Names of places, attributes and values all attack whatever shows them. */
function hostile(): Explanation {
  const side = (late: number) =>
    requests(
      60,
      (i): RequestSketch => ({
        web: { [HOSTILE]: `${HOSTILE}${late}`, '__proto__ ': `${HOSTILE}${i % 3}` },
        host: `${HOSTILE}${i % 2}`,
        storeUs: 100 + (i % 5) + (late === 1 && i % 2 === 1 ? 300 : 0),
      }),
    )
  return explainMutation(compareRequests(side(0), side(1)), 0, { sample: 'all' })
}

/** The rows of the tree as they are drawn: condition or whole, and both counts. */
async function treeOf(page: Page): Promise<string[]> {
  const texts = await page.locator('.fd-tree td.fd-amount').allInnerTexts()
  return texts.filter((text) => text.includes(' of '))
}

function expectedTree(explanation: Explanation, name: ParameterQuestionName): string[] {
  const question = explanation.question(name)
  if (question === undefined) throw new Error(`${name} was not asked`)
  const { sizes } = groupsOf(explanation, question)
  return treeRows(question, { limit: 40 }).flatMap(({ counts }) =>
    counts.map((count, group) => `${count} of ${sizes[group]}`),
  )
}

const sentencesOf = (page: Page) =>
  page.getByRole('list', { name: 'Explanations' }).locator('li').allInnerTexts()

const expectedSentences = (explanation: Explanation, name: ParameterQuestionName) =>
  (explanation.question(name)?.paths ?? [])
    .slice(0, 4)
    .map((path) => pathSentence(path, explanation.subject))

const codeOf = (page: Page) => page.locator('.fd-code code').innerText()

const splits = (page: Page) => page.locator('.fd-split')

async function expectShown(page: Page, explanation: Explanation, name: ParameterQuestionName) {
  expect(await treeOf(page)).toEqual(expectedTree(explanation, name))
  expect(await sentencesOf(page)).toEqual(expectedSentences(explanation, name))
  const out = await page.getByRole('list', { name: 'Taken out' }).locator('li').allInnerTexts()
  expect(out.map((text) => text.replace(/ ↩$/, ''))).toEqual([...explanation.excluded])
}

describeInBrowser('the explorer of explanations in a page', (open) => {
  test.each([
    ['mds-config', config],
    ['made up', mixed()],
  ])(
    '%s: a click on the root gives what without() gives, all the way, and undo comes back',
    async (_, whole) => {
      const { page, problems } = await open([explore(whole)])
      const name = whole.questions[0]?.question as ParameterQuestionName
      const chain = [whole]
      await expectShown(page, whole, name)
      for (let explanation = whole; ; ) {
        const root = explanation.question(name)?.tree.root
        expect((await splits(page).count()) > 0).toBe(root?.kind === 'split')
        if (root?.kind !== 'split') break
        await splits(page).first().click()
        explanation = explanation.without(root.column)
        chain.push(explanation)
        await expectShown(page, explanation, name)
        const given: Explanation = new Function('explanation', `return ${await codeOf(page)}`)(
          whole,
        )
        expect(given.text()).toBe(explanation.text())
      }
      expect(chain.length).toBeGreaterThan(1)
      for (const explanation of chain.slice(0, -1).reverse()) {
        await page.getByRole('button', { name: 'Undo' }).click()
        await expectShown(page, explanation, name)
      }
      expect(await codeOf(page)).toBe('explanation')
      expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true)
      expect(problems).toEqual([])
    },
  )

  test('what is taken out can be put back, one by one, or all by starting over', async () => {
    const whole = mixed()
    const { page, problems } = await open([
      explore(whole, { question: 'what-differs', name: 'why' }),
    ])
    await splits(page).first().click()
    const without = whole.without('web READ · kB')
    expect(without.excluded).toEqual(['web READ · kB', 'web READ · size'])
    await page.getByRole('button', { name: 'Put back web READ · size' }).click()
    await expectShown(page, without.including('web READ · size'), 'what-differs')
    expect(await codeOf(page)).toBe("why.without('web READ · kB').including('web READ · size')")
    await page.getByRole('button', { name: 'Start over' }).click()
    await expectShown(page, whole, 'what-differs')
    expect(problems).toEqual([])
  })

  test('keys do all of it: Enter takes out, and the next split has the focus', async () => {
    const whole = mixed()
    const { page, problems } = await open([explore(whole, { question: 'what-differs' })])
    await splits(page).first().focus()
    await page.keyboard.press('Enter')
    const next = whole.without('web READ · kB')
    await expectShown(page, next, 'what-differs')
    const focused = () => focusedIn(page).getAttribute('aria-label')
    expect(await focused()).toBe('Take out web READ · user')
    await page.keyboard.press(' ')
    expect(await codeOf(page)).toBe(
      "explanation.without('web READ · kB').without('web READ · user')",
    )
    await page.getByRole('button', { name: 'Undo' }).focus()
    await page.keyboard.press('Enter')
    await expectShown(page, next, 'what-differs')
    expect(problems).toEqual([])
  })

  test('the other question has its own tree and sentences', async () => {
    const whole = mixed()
    const { page, problems } = await open([explore(whole)])
    for (const [button, name] of [
      ['What is slow?', 'what-is-slow'],
      ['What differs?', 'what-differs'],
    ] as const) {
      await page.getByRole('button', { name: button }).click()
      await expectShown(page, whole, name)
    }
    expect(problems).toEqual([])
  })

  test('a parameter opens into its shares; taking it out there works as well', async () => {
    const { page, problems } = await open([explore(rmw)])
    const table = page.getByRole('table', { name: 'Parameters' })
    const buttons = table.locator('.fd-parameter')
    expect(await buttons.allInnerTexts()).toEqual([
      '▾ frontend NFS3 WRITE · count',
      '▸ frontend NFS3 WRITE · offset',
    ])
    const bars = table.locator('.fd-chart').first()
    await bars.locator('svg').waitFor()
    const shares = await bars
      .locator('.mark-rect.role-mark path')
      .evaluateAll((marks) => marks.map((mark) => mark.getAttribute('aria-label') ?? ''))
    expect(
      shares.map((words) => /value: ([\d,]+).*share of the group: (.*)$/.exec(words)?.slice(1)),
    ).toEqual([
      ['4,096', '1 %'],
      ['4,096', '100 %'],
      ['16,384', '99 %'],
      ['16,384', '0 %'],
    ])
    await buttons.nth(1).focus()
    await page.keyboard.press('Enter')
    expect(await buttons.nth(1).getAttribute('aria-expanded')).toBe('true')
    await page.getByRole('button', { name: 'Take out', exact: true }).click()
    expect(await codeOf(page)).toBe("explanation.without('frontend NFS3 WRITE · offset')")
    expect(problems).toEqual([])
  })

  test('without room for all, says what is missing', async () => {
    const { page, problems } = await open([explore(mixed(), { characters: 12_000 })])
    expect(await page.getByRole('note').innerText()).toMatch(
      /no room for \d parameters? that differ/,
    )
    expect(problems).toEqual([])
  })

  test('names that attack do nothing but show', async () => {
    const { page, problems } = await open([explore(hostile(), { name: HOSTILE })])
    for (const button of ['What is slow?', 'What differs?']) {
      await page.getByRole('button', { name: button }).click()
    }
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.locator('section.fd-explanation').innerText()).toContain('<img')
    await splits(page).first().click()
    expect(await page.getByRole('list', { name: 'Taken out' }).innerText()).toContain('<img')
    expect(await page.locator('img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('in the dark and where it is narrow', async () => {
    for (const [whole, width] of [
      [config, 500],
      [mixed(), 360],
    ] as const) {
      const { page, problems } = await open([explore(whole)], { dark: true, width })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      const box = await page.locator('.fd-tree').boundingBox()
      expect(box?.width ?? 1000).toBeLessThan(width)
      expect(problems).toEqual([])
    }
  })
})
