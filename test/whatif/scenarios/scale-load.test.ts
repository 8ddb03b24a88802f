import { describe, expect, test } from 'vitest'
import { quantile } from '../../../src/stats/quantile.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../../src/whatif/scenarios/apply-scenario.ts'
import { combineScenarios, parseScenario } from '../../../src/whatif/scenarios/parse-scenario.ts'
import { type LoadedCalls, predictAtLoad } from '../../../src/whatif/scenarios/scale-load.ts'
import { makeSpans } from '../../make-traces.ts'

const SERVICE_US = 10_000

/** M/M/c: Poisson arrivals, exponential service, first come first served. */
function queue(
  servers: number,
  phases: readonly { readonly perSecond: number; readonly calls: number }[],
  seed: number,
): LoadedCalls {
  const random = randomSource(seed)
  const exponential = (mean: number) => -Math.log(1 - random.next()) * mean
  const freeUs = new Array<number>(servers).fill(0)
  let nowUs = 0
  const times = phases.flatMap(({ perSecond, calls }) =>
    Array.from({ length: calls }, () => {
      nowUs += exponential(1e6 / perSecond)
      const server = freeUs.indexOf(Math.min(...freeUs))
      const endUs = Math.max(nowUs, freeUs[server] as number) + exponential(SERVICE_US)
      freeUs[server] = endUs
      return { startUs: nowUs, timeUs: endUs - nowUs }
    }),
  )
  return {
    startUs: Float64Array.from(times, ({ startUs }) => startUs),
    timeUs: Float64Array.from(times, ({ timeUs }) => timeUs),
    weight: new Float64Array(times.length).fill(1),
  }
}

const at = (timeUs: Float64Array, share: number) =>
  quantile(Float64Array.from(timeUs).sort(), share)

/** p50 and p95 within 20 % of those of a queue that was simulated. */
function expectNear(timeUs: Float64Array, truth: LoadedCalls): void {
  for (const share of [0.5, 0.95]) {
    const ratio = at(timeUs, share) / at(truth.timeUs, share)
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.2)
  }
}

describe('times at a load that occurred', () => {
  describe.each([
    { servers: 1, seed: 11, tags: ['full'] },
    { servers: 2, seed: 12, tags: [] },
  ])('$servers servers', ({ servers, seed, tags }) => {
    test('are those of M/M/c within a fifth', { tags }, () => {
      const once = (0.3 * servers * 1e6) / SERVICE_US
      const truth = queue(servers, [{ perSecond: 1.8 * once, calls: 60_000 }], 99)
      const seen = queue(
        servers,
        [0.9, 1.2, 1.5, 1.8, 2.1].map((times) => ({ perSecond: times * once, calls: 4000 })),
        seed,
      )
      const { shiftUs, limits } = predictAtLoad(seen, () => 1.8 * once)
      expectNear(
        seen.timeUs.map((us, i) => us + (shiftUs[i] as number)),
        truth,
      )
      expect(limits).toMatch(
        /^Learned from periods with .* a second, assuming only that times rise with load\./,
      )
    })
  })

  test('are the only ones that can be told', () => {
    const phases = [30, 45].map((perSecond) => ({ perSecond, calls: 4000 }))
    const seen = queue(1, phases, 11)
    for (const load of [60, 20]) {
      expect(() => predictAtLoad(seen, () => load)).toThrow(
        /^Times at that load cannot be predicted: [26]0 a second did not occur before \(.* to .* a second\)\. Give a load that did/,
      )
    }
  })

  test('cannot be told where calls are few, nor where load is even and another is asked for', () => {
    const even: LoadedCalls = {
      startUs: Float64Array.from({ length: 2000 }, (_, i) => i * 1000),
      timeUs: new Float64Array(2000).fill(500),
      weight: new Float64Array(2000).fill(1),
    }
    expect(() => predictAtLoad(even, (load) => 1.5 * load)).toThrow('did not occur before')
    const few = queue(1, [{ perSecond: 30, calls: 300 }], 11)
    expect(() => predictAtLoad(few, (load) => load)).toThrow('300 calls are too few')
  })
})

describe('load as a scenario', () => {
  const { startUs, timeUs } = queue(
    1,
    [30, 45].map((perSecond) => ({ perSecond, calls: 2000 })),
    11,
  )
  const models = learnExecutionModels(
    makeSpans(
      Array.from(startUs, (us, i) => ({
        id: `w${i}`,
        service: 'web',
        host: `web-${i % 2}`,
        startUs: Math.round(us),
        endUs: Math.round(us + (timeUs[i] as number)),
      })),
    ),
  )

  test('more of it makes requests slower, and says how sure that is', () => {
    const usual = applyScenario(models, 'load*1')
    const more = applyScenario(models, 'load*1.2')
    expect(more.quantiles.p50Us).toBeGreaterThan(1.05 * usual.quantiles.p50Us)
    expect(more.limits).toMatch(
      /^Learned from periods with .* a second, assuming only that times rise with load/,
    )
    expect(() => applyScenario(models, 'load*2')).toThrow('did not occur before')
    expect(applyScenario(models, 'web*2').limits).toBeNull()
  })

  test('a service that no call has is said', { tags: 'full' }, () => {
    expect(() => applyScenario(models, 'load:wbe*2')).toThrow('Give one of web')
  })

  test('with others, both count', { tags: 'full' }, () => {
    const both = combineScenarios('load*1.2', 'web*0.5')
    expect(both.title).toBe('load × 1.2, and web × 0.5')
    const { quantiles, limits } = applyScenario(models, both)
    const more = applyScenario(models, 'load*1.2')
    expect(quantiles.p50Us).toBeCloseTo(more.quantiles.p50Us / 2, 3)
    expect(limits).toBe(more.limits)
  })

  test.each([
    ['load*1.5', 'load × 1.5'],
    ['load:mds × 2', 'load of mds × 2'],
    ['load=500/s', 'load 500/s'],
    ['"load"*2', 'load × 2'],
  ])('%s', (text, title) => {
    const scenario = parseScenario(text)
    expect(scenario.title).toBe(title)
    expect(scenario.kind).toBe(text.startsWith('"') ? 'scale' : 'load')
  })

  test('no load is no load', () => {
    expect(() => parseScenario('load*0')).toThrow('Option load is 0. Give a number above 0')
  })
})
