import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COMPARISON_DOCUMENT } from '../../../src/cli/comparison-document.ts'
import { clearShift, wholeShifts } from '../../../src/compare/findings/request-findings.ts'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { otherMix } from '../../../src/comparison/fairness/request-types.ts'
import { headline } from '../../../src/explain/headline.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource, welch } from '../../../src/stats/index.ts'
import { reportMarkdown } from '../../../src/views/report/report.ts'
import { comparisonText } from '../../../src/views/text/comparison-text.ts'
import { load, randomPeriods } from '../../comparison/random-periods.ts'
import { makeGraphs } from '../../make-traces.ts'
import { compareShops } from './fixture.ts'

/** What each output says where nothing was found, on one line. */
function silence(comparison: Comparison) {
  const printed = { comparison, limit: 1000, budget: 0, explained: null }
  const head = headline(comparison)
  const lines = (text: string) => text.replace(/\s+/g, ' ')
  return {
    text: lines(comparisonText(printed, { verbose: false })),
    json: String(COMPARISON_DOCUMENT.write(printed)['summary']),
    report: [head.title, ...head.sentences].join(' '),
    markdown: reportMarkdown(comparison),
  }
}

/** p of the difference of the mean response times, by a test that findings do not use. */
function wholeP({ flows }: Comparison): number {
  const split = flows.count(BEFORE)
  if (Math.min(split, flows.count(AFTER)) < 10) return 1
  return welch(flows.responseTimeUs.subarray(0, split), flows.responseTimeUs.subarray(split)).p
}

const SEEN = /may be missed[.;]|any shift would show[.;]|has enough in both periods for a test\./
const NOTHING = /No significant change|No change found|Chance alone/

function expectHonest(comparison: Comparison): void {
  const { findings } = comparison.findings
  const outputs = Object.entries(silence(comparison))
  for (const [name, output] of outputs) {
    if (findings.length > 0) expect(output, name).not.toMatch(NOTHING)
    else {
      expect(output, name).toMatch(SEEN)
      if (wholeP(comparison) < 0.001) expect(output, name).not.toMatch(NOTHING)
    }
  }
  if (findings.length === 0) {
    expect(outputs[0]?.[1]).toContain(comparison.findings.nothingText())
    expect(outputs[1]?.[1]).toBe(comparison.findings.nothingText())
  }
}

describe('where nothing is found', () => {
  test('text, JSON and reports say what could have been seen, and never deny a change of the whole', () => {
    fc.assert(
      fc.property(randomPeriods, (random) => {
        const { before, after } = load(random)
        if (random.before.length * random.after.length === 0) return
        expectHonest(compare(before, after, { smPThreshold: random.smPThreshold }))
      }),
      { numRuns: 15 },
    )
  })

  test('so they do of services that became a little slower, in periods of any size', {
    tags: 'full',
  }, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 80 }),
        fc.integer({ min: 1, max: 80 }),
        fc.constantFrom(1, 1.02, 1.05, 1.3),
        fc.nat(1000),
        (before, after, factor, seed) => {
          const shop = (requests: number, times: number) => ({
            requests,
            networkUs: 100 * times,
            stockUs: 1000 * times,
            payUs: 2000 * times,
          })
          expectHonest(
            compareShops({ ...shop(before, 1), seed }, { ...shop(after, factor), seed: seed + 1 }),
          )
        },
      ),
      { numRuns: 25 },
    )
  })

  test('requests of which no two take the same way are said to have become slower', () => {
    const period = (slower: number) =>
      makeGraphs(
        Array.from({ length: 40 }, (_, i) => ({
          labels: ['e1__t__CALL', `e1__t__${slower}_${i}`],
          edges: [[0, 1]] as const,
          latencyUs: [100 + i + slower],
        })),
      )
    const comparison = compare(period(0), period(400))
    expect(comparison.findings.findings).toEqual([])
    expect(comparison.findings.text()).toMatch(
      /^Requests took 400 µs longer on average \(95 % CI 375–425 µs\), but no single step or type of request explains it\. Too few requests: /,
    )
    expectHonest(comparison)
  })
})

test('of few requests, chance alone is seldom told as a change of the whole', {
  tags: 'full',
}, () => {
  const random = randomSource(5)
  const us = () => Math.round(random.logNormal(6, 0.5) * (random.next() < 0.02 ? 50 : 1))
  const period = (requests: number) =>
    makeGraphs(
      Array.from({ length: requests }, () => {
        const one = us()
        return {
          labels: ['a', 'b'],
          edges: [[0, 1]] as const,
          latencyUs: [one],
          responseTimeUs: one,
        }
      }),
    )
  const before = period(800)
  const told = Array.from({ length: 60 }, (_, i) => {
    const { unexplained } = compare(before, period([3, 10, 30][i % 3] as number)).findings
    return unexplained !== null
  })
  expect(told.filter(Boolean).length).toBeLessThanOrEqual(5)
})

test('a mean that moved as one type happened to have more requests is no change, unless the types took longer', () => {
  const random = randomSource(5)
  const period = (slow: number, factor = 1) =>
    makeGraphs(
      random.shuffle([...Array(600).keys()]).map((i) => {
        const [type, usualUs] = i < slow ? ['report', 1_000_000] : ['search', 60_000]
        const latencyUs = [Math.round(usualUs * factor * random.logNormal(0, 0.3))]
        return { labels: [type, `${type}_done`], edges: [[0, 1]] as const, latencyUs }
      }),
    )
  const before = period(30)
  const [ofMix, slower] = [period(54), period(54, 1.3)].map((after) => buildFlows([before, after]))
  for (const flows of [ofMix!, slower!]) {
    expect(wholeShifts(flows)[0].interval[0]).toBeGreaterThan(0)
    expect(otherMix(flows)).toBeNull()
  }
  expect(clearShift(ofMix!, { mixChanged: false })).toBeNull()
  expect(clearShift(slower!, { mixChanged: false })?.measure).toBe('mean')
  expect(compare(before, period(54)).findings.text()).toMatch(/^No significant change\./)
})

test('intervals of the whole hold the difference of times that wander: most of 40 pairs without a change', () => {
  const random = randomSource(11)
  const period = (requests: number) => {
    let level = random.normal()
    return makeGraphs(
      Array.from({ length: requests }, (_, startUs) => {
        level = 0.98 * level + 0.2 * random.normal()
        const one = Math.round(1000 * Math.exp(0.1 * level) * random.logNormal(0, 0.4))
        return { labels: ['a', 'b'], edges: [[0, 1]] as const, latencyUs: [one], startUs }
      }),
    )
  }
  const apart = Array.from({ length: 40 }, () => {
    const shifts = wholeShifts(buildFlows([period(800), period(600)]))
    return shifts.map(({ interval: [low, high] }) => low > 0 || high < 0)
  })
  // Independent requests let expect 2; without regard to the wander, it is a quarter.
  for (const measure of [0, 1]) {
    expect(apart.filter((one) => one[measure]).length).toBeLessThanOrEqual(4)
  }
})
