import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { groupsOf } from '../../src/charts/parameter-groups.ts'
import { treeRows } from '../../src/charts/parameter-tree-rows.ts'
import { compare } from '../../src/comparison.ts'
import { explainMutation } from '../../src/parameters/explain-mutation.ts'
import type { ExplainOptions } from '../../src/parameters/explain-options.ts'
import type { ParameterQuestionName } from '../../src/parameters/explained-path.ts'
import type { Explanation } from '../../src/parameters/explanation.ts'
import { restoreExplanation } from '../../src/parameters/explanation-rows.ts'
import { pathSentence } from '../../src/parameters/explanation-words.ts'
import { randomSource } from '../../src/stats/random.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { ExplanationData } from '../../src/widgets/explanation/explanation-data.ts'
import { stepsCode } from '../../src/widgets/explanation/explanation-steps.ts'
import { exploreExplanation } from '../../src/widgets/explanation/explore-explanation.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { compareRequests, type RequestSketch, requests } from '../parameters/fixture.ts'
import { describeInBrowser } from './open-widgets.ts'

async function recorded(name: string): Promise<Explanation> {
  const folder = new URL(`../../datasets/storage-service/${name}/`, import.meta.url).pathname
  const before = await loadTraces(`${folder}before.jsonl.gz`)
  const comparison = compare(before, await loadTraces(`${folder}after.jsonl.gz`))
  return explainMutation(comparison, comparison.ranking.mutations[0] as never)
}

const rmw = await recorded('rmw')
const config = await recorded('mds-config')

/** Sizes fall, and users with them; large ones are slow on one of four hosts. */
function mixed(options: ExplainOptions = {}): Explanation {
  const side = (seed: number, share: number) => {
    const random = randomSource(seed)
    return requests(300, (): RequestSketch => {
      const isLarge = random.next() < share
      const host = `node${random.integer(4)}`
      const size = isLarge ? 65_536 : 4096
      const user = random.next() < 0.15 ? `u${random.integer(2)}` : isLarge ? 'u0' : 'u1'
      return {
        web: { size, kB: size / 1024, user, load: random.next() },
        ...{ host, storeUs: 100 + 10 * random.next() + (isLarge && host === 'node1' ? 400 : 0) },
      }
    })
  }
  return explainMutation(compareRequests(side(1, 0.1), side(2, 0.8)), 0, {
    sample: 'all',
    ...options,
  })
}

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

describe('exploreExplanation', () => {
  test('is a picture of the tree and its first sentences where no script runs', () => {
    const svg = exploreExplanation(rmw).svg()
    expect(svg).toContain('is at most 4,096')
    expect(svg).toContain('split by frontend NFS3 WRITE · count')
    expect(svg).toContain('112 of 112')
    expect(svg.replace(/<[^>]*>/g, ' ')).toMatch(/requests are mutations: 110 of 110/)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  test('draws and says so when nothing was found, or a period is empty', () => {
    const same = () => requests(40, (i) => ({ web: { size: i % 3 } }))
    const none = exploreExplanation(explainMutation(compareRequests(same(), same()), 0))
    expect(none.svg()).toContain('No parameter tells before and after apart.')
    const empty = exploreExplanation(explainMutation(compareRequests(same(), []), 0))
    expect(empty.svg()).not.toMatch(/NaN|undefined/)
  })

  test('checks its options', () => {
    expect(() => exploreExplanation(rmw, { rows: 3 } as never)).toThrow('There is no option rows.')
    expect(() => exploreExplanation(rmw, { characters: 1 })).toThrow('Option characters is 1.')
    const one = mixed({ question: 'what-differs' })
    expect(() => exploreExplanation(one, { question: 'what-is-slow' })).toThrow(
      `Option question is "what-is-slow". Give one that was asked: 'what-differs'.`,
    )
  })

  test.each([{ prune: false }, { criterion: 'gini' }, {}] as const)(
    'grows the trees in the page as the explanation did: %j',
    (options) => {
      const explanation = mixed(options)
      const { rows } = exploreExplanation(explanation).data as ExplanationData
      // Rows come with 7 digits.
      const rounded = (value: unknown) =>
        JSON.parse(
          JSON.stringify(value, (_, part) =>
            typeof part === 'number' ? Number(part.toPrecision(7)) : part,
          ),
        )
      const ways = ({ paths }: Explanation) =>
        paths.map(({ conditions, predicts, requests: count }) =>
          rounded({ conditions, predicts, count }),
        )
      expect(ways(restoreExplanation(rows))).toEqual(ways(explanation))
    },
  )

  test('steps are code, names quoted', () => {
    expect(stepsCode('x', [])).toBe('x')
    const steps = [
      { verb: 'without', column: "a'b" },
      { verb: 'including', column: 'c · d' },
    ] as const
    expect(stepsCode('x', steps)).toBe("x.without('a\\'b').including('c · d')")
  })
})

/** The rows of the tree as they are drawn: condition or whole, and both counts. */
async function treeOf(page: Page): Promise<string[]> {
  const texts = await page.locator('.fd-tree svg text').evaluateAll((all) =>
    all.flatMap(({ childNodes, textContent }) => {
      const own = [...childNodes].filter(({ nodeName }) => nodeName === '#text')
      const text = own.map(({ nodeValue }) => nodeValue).join('')
      return /^\d[\d,.]* of \d/.test(text) ? [textContent ?? ''] : []
    }),
  )
  return texts
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
      const { page, problems } = await open([exploreExplanation(whole)])
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
      exploreExplanation(whole, { question: 'what-differs', name: 'why' }),
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
    const { page, problems } = await open([exploreExplanation(whole, { question: 'what-differs' })])
    await splits(page).first().focus()
    await page.keyboard.press('Enter')
    const next = whole.without('web READ · kB')
    await expectShown(page, next, 'what-differs')
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
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
    const { page, problems } = await open([exploreExplanation(whole)])
    for (const [button, name] of [
      ['What is slow?', 'what-is-slow'],
      ['What differs?', 'what-differs'],
    ] as const) {
      await page.getByRole('button', { name: button }).click()
      await expectShown(page, whole, name)
    }
    expect(problems).toEqual([])
  })

  test('a parameter opens into its shares and a dot for each request; taking it out there works as well', async () => {
    const { page, problems } = await open([exploreExplanation(rmw)])
    const table = page.getByRole('table', { name: 'Parameters' })
    const cellsOf = (row: string) => row.split(/\s*\t\s*/).filter((cell) => cell !== '')
    const buttons = table.locator('.fd-parameter')
    expect(await buttons.allInnerTexts()).toEqual([
      '▾ frontend NFS3 WRITE · count',
      '▸ frontend NFS3 WRITE · offset',
    ])
    expect(await table.locator('circle').count()).toBe(222)
    const shares = await table.locator('.fd-shares tbody tr').allInnerTexts()
    expect(shares.map(cellsOf)).toEqual([
      ['4,096', '0 %', '100 %'],
      ['16,384', '100 %', '0 %'],
    ])
    const trace = await table.locator('circle title').first().textContent()
    expect(trace).toContain(`trace ${rmw.requestTable().get('trace', 0)}`)
    await buttons.nth(1).focus()
    await page.keyboard.press('Enter')
    expect(await buttons.nth(1).getAttribute('aria-expanded')).toBe('true')
    expect(await table.locator('.fd-shares').count()).toBe(0)
    await page.getByRole('button', { name: 'Take out', exact: true }).click()
    expect(await codeOf(page)).toBe("explanation.without('frontend NFS3 WRITE · offset')")
    expect(problems).toEqual([])
  })

  test('without room for all, says what is missing', async () => {
    const { page, problems } = await open([exploreExplanation(mixed(), { characters: 12_000 })])
    expect(await page.getByRole('note').innerText()).toMatch(
      /no room for \d parameters? that differ/,
    )
    expect(problems).toEqual([])
  })

  test('names that attack do nothing but show', async () => {
    const { page, problems } = await open([exploreExplanation(hostile(), { name: HOSTILE })])
    for (const button of ['What is slow?', 'What differs?']) {
      await page.getByRole('button', { name: button }).click()
    }
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.locator('.fd-explanation').innerText()).toContain('<img')
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
      const { page, problems } = await open([exploreExplanation(whole)], { dark: true, width })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      const box = await page.locator('.fd-tree svg').boundingBox()
      expect(box?.width ?? 1000).toBeLessThan(width)
      expect(problems).toEqual([])
    }
  })
})
