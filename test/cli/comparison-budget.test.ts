import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withinBudget } from '../../src/cli/comparison-budget.ts'
import { COMPARISON_DOCUMENT, FINDING_DOCUMENT } from '../../src/cli/comparison-document.ts'
import { printedJson } from '../../src/cli/printing.ts'
import type { Finding } from '../../src/compare/findings/finding.ts'
import { type Comparison, compare } from '../../src/comparison/comparison.ts'
import { listedFindings } from '../../src/explain/listed-findings.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { load, randomPeriods } from '../comparison/random-periods.ts'
import { firstSeconds, flowdelta, periods, schemaErrors } from './run-cli.ts'

const PERIODS = periods('mds-config')
const SHORT = await firstSeconds('mds-config', 8)

interface Entry extends Readonly<Record<string, unknown>> {
  readonly id: string
  readonly consequences: readonly string[]
  readonly consequenceOf: string | null
}

/** The document of a comparison within a budget, checked against its schema and its own promises. */
function bounded(comparison: Comparison, budget: number) {
  const all = {
    categories: comparison.categories.size,
    mutations: comparison.ranking.mutations.length,
  }
  const printed = { comparison, limit: 1000, budget, explained: null }
  const document = withinBudget(COMPARISON_DOCUMENT.write(printed), { budget, all })
  const bytes = Buffer.byteLength(printedJson(document))
  const written = JSON.parse(JSON.stringify(document))
  expect(schemaErrors('compare', written)).toBeNull()
  if (budget > 0) expect(bytes).toBeLessThanOrEqual(budget)
  const findings: readonly Entry[] = written.findings
  const ids = findings.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const below = findings.flatMap(({ consequences }) => consequences)
  if ((written.leftOut?.findings ?? 0) === 0) expect(ids).toEqual(expect.arrayContaining(below))
  expect(below).toEqual(
    expect.arrayContaining(
      findings.flatMap(({ id, consequenceOf }) => (consequenceOf === null ? [] : [id])),
    ),
  )
  return { written, bytes }
}

describe('a budget', () => {
  test('holds over random periods, and what is kept is as it was', () => {
    fc.assert(
      fc.property(randomPeriods, fc.integer({ min: 2500, max: 40_000 }), (random, budget) => {
        const { before, after } = load(random)
        const comparison = compare(before, after, { smPThreshold: random.smPThreshold })
        const { written: full } = bounded(comparison, 0)
        expect(full.leftOut).toBeUndefined()
        const { written } = bounded(comparison, budget)
        for (const name of ['change', 'requests', 'summary', 'parameters']) {
          expect(written[name]).toEqual(full[name])
        }
        for (const category of written.categories) {
          expect(full.categories[category.id]).toEqual(category)
        }
        const { leftOut } = written
        if (leftOut === undefined) expect(written).toEqual(full)
        else {
          for (const name of ['findings', 'warnings', 'mutations', 'categories']) {
            expect(written[name].length + leftOut[name]).toBe(full[name].length)
          }
        }
      }),
      { numRuns: 12 },
    )
  })

  test.each([3000, 6000, 12_000])(
    'of %d bytes keeps findings before mutations, and mutations before what they rest on',
    (budget) => {
      const comparison = compareShops({}, { stockUs: 3000, payUs: 4000, ways: 4, archive: 0.3 })
      const { written: full } = bounded(comparison, 0)
      const { written } = bounded(comparison, budget)
      const causes = full.findings.filter((one: Entry) => one.consequenceOf === null).length
      expect(causes).toBeGreaterThan(1)
      if (written.mutations.length > 0) {
        expect(written.findings.length).toBeGreaterThanOrEqual(causes)
      }
      expect(written.leftOut.how).toContain('--budget 0')
      const subjects = ({ findings }: { findings: readonly Finding[] }) =>
        findings
          .slice(0, written.findings.length)
          .map(({ steps: [step], calls: [call] }) => [step, call])
      expect(subjects(written)).toEqual(subjects(full))
    },
  )

  test('too small for the totals is an error that says how much they take', async () => {
    const { code, err } = await flowdelta('compare', ...SHORT, '--json', '--budget', '100')
    expect(code).toBe(2)
    expect(err).toMatch(
      /^flowdelta: --budget 100: totals and parameters alone take 1,\d{3} bytes\. Give more, or 0 for everything\.\n$/,
    )
  })

  test('of 32 kB is the default, and 0 prints everything', { tags: ['full'] }, async () => {
    const { out } = await flowdelta('compare', ...PERIODS, '--json')
    expect(Buffer.byteLength(out)).toBeLessThanOrEqual(32_000)
    const { leftOut, mutations, findings } = JSON.parse(out)
    expect(leftOut).toMatchObject({ findings: 0, mutations: 0, budget: 32_000 })
    expect(leftOut.shortenedMutations.length).toBeGreaterThan(0)
    const all = await flowdelta('compare', ...PERIODS, '--json', '--budget', '0')
    const full = JSON.parse(all.out)
    expect(full.leftOut).toBeUndefined()
    expect(findings).toEqual(full.findings)
    for (const [i, { edges, edgesInAll }] of mutations.entries()) {
      expect(edgesInAll ?? edges.length).toBe(full.mutations[i].edges.length)
    }
  })
})

describe('--finding', () => {
  test('prints one finding in full, as text and as JSON', async () => {
    const first = JSON.parse((await flowdelta('compare', ...SHORT, '--json')).out).findings[0]
    const { out } = await flowdelta('compare', ...SHORT, '--json', '--finding', first.id)
    const document = JSON.parse(out)
    expect(schemaErrors('finding', document)).toBeNull()
    expect(document).toMatchObject({ schema: 'flowdelta.finding/1', finding: first })
    expect(document.mutations.map(({ rank }: { rank: number }) => rank)).toEqual(first.mutations)
    for (const { edges, edgesInAll } of document.mutations) {
      expect(edges.length).toBeGreaterThan(0)
      expect(edgesInAll).toBeUndefined()
    }
    const { out: text } = await flowdelta('compare', ...SHORT, '--finding', first.id)
    expect(text).toMatch(
      /\nTrace [0-9a-f]{32} \(after, [\d.]+ [µm]s\), \d+ calls \(◀ marks the finding\)\n +begins +takes\nfrontend NFS3 [A-Z]+ +0 µs/,
    )
    expect(text).toMatch(
      /Differences within the flow of mutation \d+:\n {2}1\. [\s\S]*?% of the slowdown/,
    )
    expect(document.flowDifferences.differences[0]).toMatchObject({ rank: 1, kind: 'replaced' })
    const unbroken = text.replace(/\n +/g, ' ')
    expect(unbroken).toContain(document.flowDifferences.differences[0].what)
    expect(text).toMatch(/^#1 {2}mds: index get calls storage-data SN READ instead of/)
    expect(text).toContain(`${first.id} (structure): in 0 of 887 requests before, 261 of 883 after`)
    for (const id of first.exemplars.after) expect(text).toContain(id)
  })

  test('that is not there is an error that says which was probably meant', async () => {
    const { out } = await flowdelta('compare', ...SHORT, '--json')
    const [{ id }] = JSON.parse(out).findings
    const { code, err } = await flowdelta('compare', ...SHORT, '--finding', `${id}0`)
    expect(code).toBe(2)
    expect(err).toContain(`'${id}0' is not the rank or the id of a finding. Did you mean '${id}'?`)
    const none = await flowdelta(
      'compare',
      ...(await firstSeconds('control', 3)),
      '--finding',
      'latency-1',
    )
    expect([none.code, none.err]).toEqual([
      2,
      'flowdelta: "latency-1" is no finding: this comparison has none.\n',
    ])
  })

  test('is the same by its rank as by its id, for --explain too', async () => {
    const text = async (...flags: string[]) => (await flowdelta('compare', ...SHORT, ...flags)).out
    const { id } = JSON.parse(await text('--json')).findings[0]
    const [whole, why] = [await text('--finding', id), await text('--explain', id)]
    expect(whole).toContain(id)
    expect(why).toContain('Finding #1 by parameters: ')
    expect(await text('--finding', '#1')).toBe(whole)
    expect(await text('--explain', '#1')).toContain(why.trimEnd())
    expect(await text('--finding', '1', '--explain', id)).toContain('Finding #1 by parameters: ')
    const wrong = await flowdelta('compare', ...SHORT, '--finding', '7')
    expect(wrong.err).toContain(
      `'#7' is not the rank or the id of a finding. Did you mean '#1'? Give '#1', '${id}'.`,
    )
  })

  test('has a document for every finding, consequences too', () => {
    const comparison = compareShops({}, { stockUs: 3000, networkUs: 900, archive: 0.3 })
    const findings = listedFindings(comparison)
    expect(findings.length).toBeGreaterThan(0)
    for (const finding of findings) {
      const document = FINDING_DOCUMENT.write({ comparison, finding })
      expect(schemaErrors('finding', JSON.parse(JSON.stringify(document)))).toBeNull()
    }
  })
})
