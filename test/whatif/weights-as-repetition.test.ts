import { expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../src/whatif/scenarios/apply-scenario.ts'
import { weighedSpans } from '../make-traces.ts'

interface Request {
  readonly weight: number
  readonly isMobile: boolean
  readonly ownUs: number
  readonly queryUs: readonly number[]
  /** Whether the second query waits for the first. */
  readonly isInTurn: boolean
}

function requests(seed: number, isAfter: boolean): Request[] {
  const random = randomSource(seed)
  const slow = isAfter ? 1500 : 0
  return Array.from({ length: 200 }, () => {
    const isMobile = random.next() < (isAfter ? 0.6 : 0.3)
    return {
      weight: 1 + random.integer(5),
      isMobile,
      ownUs: 500 + random.integer(300),
      queryUs: Array.from({ length: isMobile ? 2 : 1 }, () => 1000 + random.integer(400) + slow),
      isInTurn: random.next() < 0.5,
    }
  })
}

function period(all: readonly Request[], isRepeated: boolean, fromUs: number) {
  return weighedSpans(
    all,
    { isRepeated, fromUs },
    ({ isMobile, ownUs, queryUs, isInTurn }, root) => {
      const { trace, startUs } = root
      let fromQueryUs = startUs + 100
      let endUs = fromQueryUs
      const queries = queryUs.map((us, number) => {
        const query = { id: `${trace} ${number}`, trace, parent: trace, service: 'db' }
        const span = { ...query, startUs: fromQueryUs, endUs: fromQueryUs + us }
        endUs = Math.max(endUs, span.endUs)
        fromQueryUs = isInTurn ? span.endUs + 50 : fromQueryUs + 10
        return span
      })
      const attributes = { client: isMobile ? 'mobile' : 'desktop' }
      return [{ ...root, endUs: endUs + ownUs, attributes }, ...queries]
    },
  )
}

const SEEDS = [1, 2]

const both = (seed: number) =>
  [false, true].map(
    (isRepeated) =>
      [
        period(requests(seed, false), isRepeated, 0),
        period(requests(seed + 50, true), isRepeated, 1e9),
      ] as const,
  )

const rounded = (value: unknown) => (typeof value === 'number' ? Number(value.toFixed(6)) : value)

const roundedRows = (rows: readonly object[]) =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)])),
  )

test.each(SEEDS)('models and predictions count weights as repetitions (seed %i)', (seed) => {
  const [weighted, repeated] = both(seed).map((periods) => {
    const models = learnExecutionModels(periods)
    const scenarios = ['db*0.5', 'server:db+1ms', 'attribute:client=mobile:80%']
    return {
      models: roundedRows(models.table().objects()),
      nodes: roundedRows(models.nodeTable().objects()),
      predictions: scenarios.map((text) => {
        const profile = applyScenario(models, text)
        return {
          touched: profile.touched,
          within: roundedRows([profile.within(2000)]),
          // Shares of requests are between values elsewhere than shares of copies.
          table: roundedRows(profile.table().objects()).slice(text.includes('%') ? -1 : 0),
        }
      }),
    }
  })
  expect(weighted).toEqual(repeated)
})

test.each(SEEDS)('diagnoses count weights as repetitions (seed %i)', (seed) => {
  const [weighted, repeated] = both(seed).map((periods) => {
    const diagnosis = diagnoseLatency(...periods, { depth: 2, divergence: 'wasserstein' })
    const rows = diagnosis.ranked.map(({ scenario, touched, evaluation }) => ({
      title: scenario.title,
      kind: scenario.kind,
      amounts: {
        touched,
        ...roundedRows([
          {
            impactUs: evaluation.impactUs,
            towardUs: evaluation.towardUs,
            distanceUs: evaluation.distanceUs,
            statistic: evaluation.statistic,
            meanUs: evaluation.profile.meanUs,
            p90Us: evaluation.profile.quantile(0.9),
          },
        ])[0],
      },
    }))
    return new Map(rows.map((row) => [row.title, row]))
  })
  // Which calls take another order, or another number of calls, is drawn: not the same of copies.
  // How many requests begin together counts copies one by one.
  const told = [...(weighted?.values() ?? [])].filter(
    ({ kind, title }) => kind !== 'order' && kind !== 'count' && !/load|under way/.test(title),
  )
  for (const { title, amounts } of told) {
    expect([title, amounts]).toEqual([title, repeated?.get(title)?.amounts])
  }
  expect(told.length).toBeGreaterThan(4)
})
