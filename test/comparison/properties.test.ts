import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../src/comparison/comparison.ts'
import {
  changed,
  load,
  type RandomPeriods,
  randomPeriods,
  shuffledParts,
  shuffledRequests,
} from './random-periods.ts'

const RUNS = { numRuns: 20 }

function comparisonOf(periods: RandomPeriods): Comparison {
  const { before, after } = load(periods)
  return compare(before, after, { smPThreshold: periods.smPThreshold })
}

function all({ categories }: Comparison): number[] {
  return Array.from({ length: categories.size }, (_, category) => category)
}

/** A name of a category that does not depend on its number. */
function structureName({ categories }: Comparison, category: number): string {
  const { labels, preorder, edgeClasses } = categories.structure(category)
  const rank = new Map(Array.from(preorder, (node, at) => [node, at]))
  const { from, to } = categories.structure(category)
  const edges = Array.from(from, (node, e) => `${rank.get(node)}-${rank.get(to[e] as number)}`)
  return JSON.stringify([Array.from(preorder, (node) => labels[node]), edges.sort(), edgeClasses])
}

/** What each category's tests say, without times. */
function verdicts(comparison: Comparison) {
  const { responseTime, structural } = comparison
  return all(comparison).map((category) => {
    const { statistic, p, rejected, testable } = responseTime.test(category)
    return { statistic, p, rejected, testable, label: structural.label(category) }
  })
}

/** The edges' tests of all categories. */
function edgeVerdicts(comparison: Comparison) {
  return all(comparison).map((category) =>
    comparison.responseTime.edges(category).map(({ edge, onCriticalPath, test }) => ({
      ...edge,
      onCriticalPath,
      p: test?.p ?? null,
      rejected: test?.rejected ?? null,
    })),
  )
}

/** How many requests fewer a category lost than another gained. */
function lack(changes: Float64Array, gained: number, lost: number): number {
  return (changes[gained] as number) + (changes[lost] as number)
}

function candidates(comparison: Comparison) {
  return all(comparison).map((category) => comparison.precursors.of(category))
}

describe('whatever is compared', () => {
  test('renaming hosts consistently changes no verdict', () => {
    const NEW: Record<string, string> = { e1: 'zeta', e2: 'alpha', e3: 'mid' }
    fc.assert(
      fc.property(randomPeriods, (periods) => {
        const renamed = changed(periods, (graph) => ({
          ...graph,
          labels: graph.labels.map((label) => label.replace(/^e\d/, (host) => NEW[host] ?? host)),
        }))
        const [one, other] = [comparisonOf(periods), comparisonOf(renamed)]
        expect(other.categories.categoryOf).toEqual(one.categories.categoryOf)
        expect(verdicts(other)).toEqual(verdicts(one))
        const among = (comparison: Comparison) =>
          candidates(comparison).map((found) => found.map(({ category }) => category).sort())
        expect(among(other)).toEqual(among(one))
      }),
      RUNS,
    )
  })

  test('the order in which a trace’s nodes and edges were recorded does not matter', () => {
    fc.assert(
      fc.property(randomPeriods, fc.nat(), (periods, seed) => {
        const [one, other] = [comparisonOf(periods), comparisonOf(shuffledParts(periods, seed))]
        expect(other.categories.categoryOf).toEqual(one.categories.categoryOf)
        expect(all(other).map((category) => structureName(other, category))).toEqual(
          all(one).map((category) => structureName(one, category)),
        )
        expect(verdicts(other)).toEqual(verdicts(one))
        expect(edgeVerdicts(other)).toEqual(edgeVerdicts(one))
        expect(other.ranking.mutations).toEqual(one.ranking.mutations)
      }),
      RUNS,
    )
  })

  test('the order of requests within a period changes only the numbers of categories', () => {
    fc.assert(
      fc.property(randomPeriods, fc.nat(), (periods, seed) => {
        const summary = (comparison: Comparison) => {
          const { ranking } = comparison
          const ranked = ranking.mutations.map(({ category, kind, requests, contributionUs }) => [
            structureName(comparison, category),
            kind,
            requests,
            Number(contributionUs.toPrecision(9)),
          ])
          const tests = verdicts(comparison).map((verdict, category) => [
            structureName(comparison, category),
            verdict,
          ])
          return [ranked.map(String).sort(), tests.map((one) => JSON.stringify(one)).sort()]
        }
        expect(summary(comparisonOf(shuffledRequests(periods, seed)))).toEqual(
          summary(comparisonOf(periods)),
        )
      }),
      RUNS,
    )
  })

  test('scaling all latencies by a power of two scales contributions and nothing else', () => {
    fc.assert(
      fc.property(randomPeriods, fc.integer({ min: -3, max: 12 }), (fine, power) => {
        // Branches that end within a nanosecond of each other are a tie: whole µs are never so near.
        const periods = changed(fine, (graph) => ({
          ...graph,
          latencyUs: (graph.latencyUs ?? []).map(Math.round),
        }))
        const scaled = changed(periods, (graph) => ({
          ...graph,
          latencyUs: (graph.latencyUs ?? []).map((us) => us * 2 ** power),
        }))
        const [one, other] = [comparisonOf(periods), comparisonOf(scaled)]
        expect(verdicts(other)).toEqual(verdicts(one))
        expect(edgeVerdicts(other)).toEqual(edgeVerdicts(one))
        expect(other.ranking.mutations).toEqual(
          one.ranking.mutations.map((mutation) => ({
            ...mutation,
            contributionUs: mutation.contributionUs * 2 ** power,
            combinedUs: mutation.combinedUs * 2 ** power,
            remainingUs: mutation.remainingUs * 2 ** power,
          })),
        )
      }),
      RUNS,
    )
  })

  test('swapping the periods turns mutations into precursors and leaves the KS test alone', () => {
    fc.assert(
      fc.property(randomPeriods, (periods) => {
        const swapped = { ...periods, before: periods.after, after: periods.before }
        const [one, other] = [comparisonOf(periods), comparisonOf(swapped)]
        const name = (comparison: Comparison) => (category: number) =>
          structureName(comparison, category)
        expect(other.structural.mutations.map(name(other)).sort()).toEqual(
          one.structural.precursors.map(name(one)).sort(),
        )
        expect(other.structural.precursors.map(name(other)).sort()).toEqual(
          one.structural.mutations.map(name(one)).sort(),
        )
        const tests = (comparison: Comparison) =>
          all(comparison)
            .map((category) => {
              const { statistic, p, rejected } = comparison.responseTime.test(category)
              return JSON.stringify([structureName(comparison, category), statistic, p, rejected])
            })
            .sort()
        expect(tests(other)).toEqual(tests(one))
      }),
      RUNS,
    )
  })

  test('doubling both periods and the threshold keeps statistics, labels and precursors', () => {
    fc.assert(
      fc.property(randomPeriods, ({ before, after, smPThreshold }) => {
        const one = comparisonOf({ before, after, smPThreshold })
        const other = comparisonOf({
          before: [...before, ...before],
          after: [...after, ...after],
          smPThreshold: smPThreshold * 2,
        })
        expect(Array.from(other.structural.changes)).toEqual(
          Array.from(one.structural.changes, (change) => change * 2),
        )
        const kept = (comparison: Comparison) =>
          verdicts(comparison).map(({ statistic, label }) => ({ statistic, label }))
        expect(kept(other)).toEqual(kept(one))
        // Of twice as many requests, chance moves a smaller share: only the 1:N rule stays the same.
        const byRule = ({ structural, precursors }: Comparison) =>
          structural.mutations.map((mutation) =>
            precursors
              .of(mutation)
              .filter(({ category }) => lack(structural.changes, mutation, category) <= 0),
          )
        expect(byRule(other)).toEqual(byRule(one))
      }),
      RUNS,
    )
  })
})
