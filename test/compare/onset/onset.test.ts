import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { findOnset, type Timed } from '../../../src/compare/onset/onset.ts'
import { changeOf, growthIn, proposePeriods } from '../../../src/compare/onset/propose-periods.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { findFindings } from '../../../src/comparison/words/find-findings.ts'
import type { FlowSet } from '../../../src/flows/flow-set.ts'
import { type RandomSource, randomSource } from '../../../src/stats/random.ts'
import { NOON_US } from '../../make-traces.ts'
import { MINUTES, type Shop, shop } from './shop.ts'

const PERIOD_US = MINUTES * 60e6

function compareShops(
  after: Omit<Shop, 'seed'>,
  { gapUs = 0, ...before }: Partial<Shop> & { gapUs?: number } = {},
) {
  return compare(
    shop('before', NOON_US, { seed: 1, ...before }),
    shop('after', NOON_US + PERIOD_US + gapUs, { ...after, seed: 2 }),
  )
}

/** Seconds since the after period began. */
function seconds(us: number, gapUs = 0): number {
  return (us - NOON_US - PERIOD_US - gapUs) / 1e6
}

describe('a finding says since when', () => {
  test('a step that became slower 30 s into after: since then, within seconds', () => {
    const { findings } = compareShops({ slowFrom: 30, slowUs: 4000 }).findings
    const { since, facts } = findings[0] ?? {}
    expect(findings[0]?.title).toMatch(/^stock: LOOKUP itself/)
    expect(since?.fromStart).toBe(false)
    expect(seconds(since?.lowUs ?? 0)).toBeLessThanOrEqual(30)
    expect(seconds(since?.lowUs ?? 0)).toBeGreaterThan(27)
    expect(seconds(since?.highUs ?? 0)).toBeGreaterThanOrEqual(30)
    expect(seconds(since?.highUs ?? 0)).toBeLessThan(33)
    expect(facts?.at(-1)).toMatch(
      /^since 22:17:\d\d(\.\d{3})? UTC \(95 % CI 22:17:\d\d(\.\d{3})? to 22:17:\d\d(\.\d{3})?\)$/,
    )
  })

  test('a call that every request makes 120 s into after: since then', () => {
    const { since } = compareShops({ payFrom: 120 }).findings.findings[0] ?? {}
    expect(since?.fromStart).toBe(false)
    expect(seconds(since?.lowUs ?? 0)).toBeLessThanOrEqual(120)
    expect(seconds(since?.highUs ?? 0)).toBeGreaterThanOrEqual(120)
    expect((since?.highUs ?? 0) - (since?.lowUs ?? 0)).toBeLessThan(20e6)
  })

  test('what all requests after have was there from the start', () => {
    const [finding] = compareShops({ slowFrom: 0, slowUs: 4000 }).findings.findings
    expect(finding?.since?.fromStart).toBe(true)
    expect(finding?.since?.timeUs).toBe(NOON_US + PERIOD_US)
    expect(finding?.facts.at(-1)).toBe('in all of the after period (first seen 22:17:20 UTC)')
  })

  test.each([
    [30, 'since 22:17:'],
    [0, 'from the start of the after period (first seen 22:17:20 UTC), until'],
  ])('and until when: slower from %d s on, and no longer after 90 s', (slowFrom, words) => {
    const { findings } = compareShops({ slowFrom, slowUntil: 90, slowUs: 4000 }).findings
    const { since, facts } = findings[0] ?? {}
    expect(since?.fromStart).toBe(slowFrom === 0)
    const { lowUs = Number.NaN, highUs = Number.NaN } = since?.until ?? {}
    expect(seconds(lowUs)).toBeLessThanOrEqual(90)
    expect(seconds(lowUs)).toBeGreaterThan(86)
    expect(seconds(highUs)).toBeGreaterThanOrEqual(90)
    expect(seconds(highUs)).toBeLessThan(94)
    expect(facts?.at(-1)?.startsWith(words)).toBe(true)
    expect(facts?.at(-1)).toMatch(/, until 22:18:\S+ UTC \(95 % CI \S+ to \S+\)$/)
  })

  test('a change late in before is dated there if after follows at once, not if a day lies between', () => {
    const late = { slowFrom: 225, slowUs: 4000 }
    const joined = compareShops({ slowFrom: 0, slowUs: 4000 }, late).findings.findings[0]?.since
    expect(seconds(joined?.lowUs ?? 0)).toBeLessThanOrEqual(-15)
    expect(seconds(joined?.highUs ?? 0)).toBeGreaterThanOrEqual(-15)
    expect(seconds(joined?.highUs ?? 0)).toBeLessThan(-12)
    const gapUs = 86_400e6
    const apart = compareShops({ slowFrom: 0, slowUs: 4000 }, { ...late, gapUs })
    const { since } = apart.findings.findings[0] ?? {}
    expect(since === null || since?.fromStart).toBe(true)
  })

  test('a comparison restored in a page says the same', () => {
    const comparison = compareShops({ slowFrom: 30, slowUs: 4000 })
    const restored = restoreComparison(takeSnapshot(comparison, { latenciesOf: () => true }))
    const told = (one: typeof comparison) => one.findings.findings.map(({ since }) => since)
    expect(told(restored)).toEqual(told(comparison))
  })
})

/** A level of 0 before and of `size` after, noise of 1, requests every second. */
interface Truth {
  readonly size: number
  readonly count?: number
  readonly leaning?: number
  /** How far a load that rises and falls moves the level, in both periods. */
  readonly drift?: number
}

function series(
  random: RandomSource,
  { count = 300, leaning = 0, drift = 0 }: Truth,
  fromUs: number,
) {
  let last = random.normal()
  const phase = random.next() * 2 * Math.PI
  return Array.from({ length: count }, (_, i): Timed => {
    last = leaning * last + Math.sqrt(1 - leaning ** 2) * random.normal()
    const load = drift * Math.sin(phase + (2 * Math.PI * i) / count)
    return { timeUs: fromUs + i * 1e6, value: last + load }
  })
}

const ROUNDS = 300
const CASES: readonly Truth[] = [
  { size: 1 },
  { size: 2, count: 60 },
  { size: 0.6, count: 1000 },
  { size: 2, leaning: 0.5 },
  { size: 3, leaning: 0.8 },
  { size: 1.5, drift: 0.5 },
  { size: 1, drift: 0.5, count: 1000 },
]

describe.each([true, false])(
  'simulated levels, periods that follow each other: %s',
  { tags: 'full' },
  (isJoined) => {
    test.each(CASES)(
      '$size standard deviations, $count requests, leaning $leaning, drift $drift',
      (truth) => {
        const random = randomSource(11)
        const clock = { isJoined, isTimeOfDay: true }
        const { size, count = 300 } = truth
        let [falseOnsets, told, covered, over] = [0, 0, 0, 0]
        for (let round = 0; round < ROUNDS; round++) {
          const before = series(random, truth, 0)
          const constant = series(random, truth, count * 1e6).map((one) => ({
            ...one,
            value: one.value + size,
          }))
          const none = findOnset({ before, after: constant, ...clock })
          if (none !== null && !none.onset.fromStart && none.p < 0.05) falseOnsets++
          if (none?.onset.until) over++
          const at = Math.floor(count * (0.25 + 0.5 * random.next()))
          const stepped = series(random, truth, count * 1e6).map((one, i) => ({
            ...one,
            value: one.value + (i < at ? 0 : size),
          }))
          const found = findOnset({ before, after: stepped, ...clock })
          if (found === null || found.onset.fromStart || found.p >= 0.05) continue
          told++
          if (found.onset.until) over++
          const { lowUs, highUs } = found.onset
          const planted = stepped[at]?.timeUs ?? 0
          if (lowUs <= planted && planted <= highUs) covered++
        }
        expect(falseOnsets / ROUNDS).toBeLessThanOrEqual(0.05)
        expect(told).toBeGreaterThan(0.15 * ROUNDS)
        expect(covered / told).toBeGreaterThanOrEqual(0.9)
        // All of them last.
        expect(over / ROUNDS).toBeLessThanOrEqual(0.01)
      },
    )
  },
)

describe('a level that grows from some time on', () => {
  const told = (size: number, { grows = true, leaning = 0 } = {}) => {
    const random = randomSource(12)
    const truth = { size, count: 300, leaning }
    return Array.from({ length: 60 }, () => {
      const at = Math.floor(300 * (0.1 + 0.5 * random.next()))
      const before = series(random, truth, 0)
      const after = series(random, truth, 300e6).map((one, i) => {
        const share = i < at ? 0 : grows ? (i - at) / (300 - at) : 1
        return { ...one, value: one.value + size * share }
      })
      const onset = findOnset({ before, after, isJoined: true, isTimeOfDay: true })?.onset
      const planted = after[at]?.timeUs ?? 0
      const isToldStep = onset != null && !onset.gradual && !onset.perhapsGradual
      const { gradual = false, lowUs = Number.NaN, highUs = Number.NaN } = onset ?? {}
      return { gradual, isToldStep, covers: lowUs <= planted && planted <= highUs }
    })
  }

  test.each([0, 0.5])(
    'is said to grow, and the interval holds its start (leaning %d)',
    (leaning) => {
      const growing = told(10, { leaning }).filter(({ gradual }) => gradual)
      expect(growing.length).toBeGreaterThanOrEqual(54)
      const covering = growing.filter(({ covers }) => covers)
      expect(covering.length / growing.length).toBeGreaterThanOrEqual(0.9)
    },
  )

  test.each([2, 10])('a step of %d standard deviations is not', (size) => {
    const growing = told(size, { grows: false }).filter(({ gradual }) => gradual)
    expect(growing.length).toBeLessThanOrEqual(3)
  })

  test('nor is what all requests have from some time on, and none before; the interval holds that time', () => {
    const random = randomSource(13)
    const onsets = Array.from({ length: 60 }, () => {
      const fromUs = 300e6 * (1.1 + 0.5 * random.next())
      const all = Array.from({ length: 1200 }, () => 600e6 * random.next()).sort((a, b) => a - b)
      const timed = all.map((timeUs): Timed => ({ timeUs, value: timeUs < fromUs ? 0 : 1 }))
      const periods = {
        before: timed.filter(({ timeUs }) => timeUs < 300e6),
        after: timed.filter(({ timeUs }) => timeUs >= 300e6),
      }
      const onset = findOnset({ ...periods, isJoined: false, isTimeOfDay: true })?.onset
      const { gradual = true, lowUs = Number.NaN, highUs = Number.NaN } = onset ?? {}
      return { gradual, covers: lowUs <= fromUs && fromUs <= highUs }
    })
    expect(onsets.filter(({ gradual }) => gradual)).toEqual([])
    expect(onsets.filter(({ covers }) => covers).length).toBeGreaterThanOrEqual(57)
  })

  test('less than the noise, it is no step either', () => {
    const steps = told(1).filter(({ isToldStep }) => isToldStep)
    expect(steps.length).toBeLessThanOrEqual(1)
    const large = told(3, { grows: false }).filter(({ isToldStep }) => isToldStep)
    expect(large.length).toBeGreaterThanOrEqual(30)
  })

  test('a finding of it says so', () => {
    const { findings } = compareShops({ slowFrom: 60, slowUs: 0, leakUs: 20_000 }).findings
    const { since, facts } = findings[0] ?? {}
    expect(since?.gradual).toBe(true)
    expect(seconds(since?.lowUs ?? 0)).toBeLessThanOrEqual(60)
    expect(seconds(since?.highUs ?? 0)).toBeGreaterThanOrEqual(60)
    const weak = compareShops({ slowFrom: 100, slowUs: 1500 }).findings.findings[0]
    expect(weak?.facts.at(-1)).toMatch(/^since about .* \(95 % CI .*, if it began suddenly\)$/)
    expect(facts?.at(-1)).toMatch(/^growing since about 22:\d\d:\d\d UTC \(95 % CI /)
  })
})

describe('one long recording', () => {
  test('is divided where it began to grow', () => {
    const periods = proposePeriods(shop('all', NOON_US, { slowFrom: 100, leakUs: 20_000, seed: 3 }))
    expect(periods?.since.gradual).toBe(true)
    expect(((periods?.since.lowUs ?? 0) - NOON_US) / 1e6).toBeLessThanOrEqual(100)
    expect(((periods?.since.highUs ?? 0) - NOON_US) / 1e6).toBeGreaterThanOrEqual(100)
  })

  test.each([
    ['keeps its level', 0.5, () => 0],
    ['rises all the time', 0.2, (share: number) => 5 * share],
    ['rises and falls with a day', 0.3, (share: number) => 2 * Math.sin(1 + 2 * Math.PI * share)],
    ['falls for half a day', 0.3, (share: number) => 2 * Math.cos(Math.PI * share)],
    ['steps up', 0.2, (share: number) => (share < 0.5 ? 0 : 3)],
  ])('that %s does not begin to grow', (_, leaning, levelAt) => {
    const random = randomSource(4)
    const growing = Array.from({ length: 40 }, () => {
      const values = series(random, { size: 0, count: 600, leaning }, 0)
      return growthIn(
        values.map((one, i) => ({ ...one, value: one.value + levelAt(i / values.length) })),
      )
    }).filter((one) => one !== null && one.p < 0.05)
    expect(growing.length).toBeLessThanOrEqual(2)
  })

  test('is divided where it changed; what may belong to either period is left out', () => {
    const whole = shop('all', NOON_US, { slowFrom: 100, slowUs: 3000, seed: 3 })
    const periods = proposePeriods(whole)
    const [, beforeEnds] = periods?.beforeUs ?? []
    const [afterBegins] = periods?.afterUs ?? []
    expect(periods?.measure).toBe('time of stock LOOKUP itself')
    const [level = 0, later = 0] = periods?.levels ?? []
    expect(later - level).toBeGreaterThan(2000)
    expect(later - level).toBeLessThan(4000)
    expect(((beforeEnds ?? 0) - NOON_US) / 1e6).toBeLessThanOrEqual(100)
    expect(((beforeEnds ?? 0) - NOON_US) / 1e6).toBeGreaterThan(90)
    expect(((afterBegins ?? 0) - NOON_US) / 1e6).toBeGreaterThanOrEqual(100)
    expect(((afterBegins ?? 0) - NOON_US) / 1e6).toBeLessThan(110)
    const [finding] = findFindings(categorize(periods?.flows as FlowSet)).findings
    expect(finding?.title).toMatch(/^stock: LOOKUP itself takes [23]\.?\d* ms longer$/)
  })

  test('of one level throughout is not divided: at most 5 % of them', { tags: 'full' }, () => {
    const seeds = Array.from({ length: 20 }, (_, i) => 100 + i)
    const divided = seeds.filter((seed) => proposePeriods(shop('all', NOON_US, { seed })) !== null)
    expect(divided.length).toBeLessThanOrEqual(1)
  })

  test.each([
    { size: 0, leaning: 0.5 },
    { size: 0, drift: 0.5, count: 600 },
  ])('%o: a level that wanders is divided in at most 5 %', { tags: 'full' }, (truth) => {
    const random = randomSource(3)
    const rounds = Array.from({ length: ROUNDS }, () => changeOf(series(random, truth, 0)))
    const divided = rounds.filter((one) => one !== null && one.p < 0.05)
    expect(divided.length / ROUNDS).toBeLessThanOrEqual(0.05)
  })

  /** Share of recordings, of 400 requests with a level of their own each, that are divided. */
  function dividedShare(levelAt: (share: number) => number): number {
    const random = randomSource(7)
    const divided = Array.from({ length: ROUNDS }, () =>
      changeOf(
        Array.from({ length: 400 }, (_, i) => ({
          timeUs: i * 1e6,
          value: levelAt(i / 400) + random.normal(),
        })),
      ),
    ).filter((one) => one !== null && one.p < 0.05)
    return divided.length / ROUNDS
  }

  test.each([0.03, 0.1, 0.2])(
    'that warms up for %d of its time is not divided',
    { tags: 'full' },
    (warm) => {
      expect(dividedShare((share) => 2 * Math.exp(-share / warm))).toBeLessThanOrEqual(0.05)
    },
  )

  test.each([
    ['rises all the time', (share: number) => share],
    ['rises and falls once', (share: number) => Math.sin(2 * Math.PI * share)],
    ['is high for a tenth of its time', (share: number) => (share > 0.4 && share < 0.5 ? 3 : 0)],
  ])('that %s is not divided', { tags: 'full' }, (_, levelAt) => {
    expect(dividedShare(levelAt)).toBeLessThanOrEqual(0.05)
  })

  /** Of 40 recordings, how many of which as many requests fail are divided. */
  function dividedFailures(rateAt: (share: number) => number, size = 4000): number {
    const random = randomSource(9)
    const failures = (i: number) => ({
      timeUs: i * 1e6,
      value: random.next() < rateAt(i / size) ? 1 : 0,
    })
    const rounds = Array.from({ length: 40 }, () =>
      changeOf(Array.from({ length: size }, (_, i) => failures(i))),
    )
    return rounds.filter((one) => one !== null && one.p < 0.05).length
  }

  test('of which 0.5 % fail at first and 7 % later is divided', { tags: 'full' }, () => {
    expect(dividedFailures((share) => (share < 0.5 ? 0.005 : 0.07))).toBeGreaterThanOrEqual(36)
  })

  test('whose failures come with a rollout in three stages is divided', { tags: 'full' }, () => {
    const stages = [0.5, 0.522, 0.544]
    const rateAt = (share: number) => 0.005 + 0.023 * stages.filter((one) => share >= one).length
    expect(dividedFailures(rateAt, 5500)).toBeGreaterThanOrEqual(32)
  })

  test('of which more fail all the time is not divided', { tags: 'full' }, () => {
    expect(dividedFailures((share) => 0.005 + 0.07 * share)).toBeLessThanOrEqual(4)
    expect(dividedFailures((share) => 0.005 * 14 ** share)).toBeLessThanOrEqual(4)
  })

  test.each([0.15, 0.5, 0.85])(
    'that changes its level at %d is divided',
    { tags: 'full' },
    (at) => {
      expect(dividedShare((share) => (share < at ? 0 : 1.25))).toBeGreaterThanOrEqual(0.85)
    },
  )
})

describe('a level that falls back', () => {
  const told = (levelAt: (i: number) => number, earlier: typeof levelAt = () => 0) => {
    const random = randomSource(5)
    const period = (fromUs: number, own: typeof levelAt) =>
      series(random, { size: 3 }, fromUs).map((one, i) => ({ ...one, value: one.value + own(i) }))
    return Array.from({ length: 50 }, () => {
      const [before, after] = [period(0, earlier), period(300e6, levelAt)]
      return findOnset({ before, after, isJoined: true, isTimeOfDay: true })?.onset ?? null
    })
  }
  const isBetween = (i: number, from: number, to: number) => i >= from && i < to

  test('is told with when it was over', { tags: 'full' }, () => {
    const over = told((i) => (isBetween(i, 60, 150) ? 3 : 0)).flatMap((one) => one?.until ?? [])
    expect(over.length).toBeGreaterThanOrEqual(48)
    const covering = over.filter(({ lowUs, highUs }) => lowUs <= 450e6 && highUs >= 450e6)
    expect(covering.length / over.length).toBeGreaterThanOrEqual(0.9)
  })

  test.each([
    ['by half only', (i: number) => (i < 60 ? 0 : i < 150 ? 3 : 1.5), () => 0],
    ['and rises again', (i: number) => (isBetween(i % 150, 30, 90) ? 3 : 0), () => 0],
    [
      'as it did before',
      (i: number) => (isBetween(i, 60, 150) ? 3 : 0),
      (i: number) => (isBetween(i, 60, 150) ? 3 : 0),
    ],
  ])('%s is not over', { tags: 'full' }, (_, levelAt, earlier) => {
    expect(told(levelAt, earlier).filter((one) => one?.until)).toEqual([])
  })
})
