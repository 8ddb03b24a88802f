import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../../src/whatif/scenarios/apply-scenario.ts'
import {
  combineScenarios,
  type ReweightOptions,
  reweightRequests,
  scaleCalls,
} from '../../../src/whatif/scenarios/parse-scenario.ts'
import { makeSpans } from '../../make-traces.ts'

/** Four hits of 100 µs, five misses of 900 µs, one request of 500 µs that says nothing. */
const SPANS = Array.from({ length: 10 }, (_, i) => ({
  trace: `t${i}`,
  id: 'web',
  startUs: i * 1000,
  host: i < 4 ? 'a' : 'b',
  endUs: i * 1000 + (i < 4 ? 100 : i < 9 ? 900 : 500),
  attributes: i === 9 ? {} : { hit: i < 4, url: i % 2 === 0 ? '/cart/1' : '/stock' },
}))
const models = learnExecutionModels(makeSpans(SPANS))
const profileUnder = (options: ReweightOptions) =>
  applyScenario(models, reweightRequests(options)).profile
const weightOf = ({ latencyUs, weight }: ReturnType<typeof profileUnder>, us: number) =>
  weight.reduce((sum, own, i) => sum + (latencyUs[i] === us ? own : 0), 0)

describe('reweightRequests', () => {
  test('makes a kind of request the share asked for; the others share the rest as before', () => {
    const profile = profileUnder({ by: 'attribute:hit', shares: { true: 0.7 } })
    expect(weightOf(profile, 100)).toBeCloseTo(7, 12)
    expect(weightOf(profile, 900)).toBeCloseTo(2.5, 12)
    expect(weightOf(profile, 500)).toBeCloseTo(0.5, 12)
    expect(profile.meanUs).toBeCloseTo(70 + 225 + 25, 9)
  })

  test('the share it has leaves everything as it is', () => {
    const scenario = reweightRequests({ by: 'host', shares: { a: 0.4 } })
    expect(applyScenario(models, scenario).profile.meanUs).toBeCloseTo(540, 9)
  })

  test('several shares at once', () => {
    expect(profileUnder({ by: 'host', shares: { a: 1, b: 0 } }).meanUs).toBeCloseTo(100, 9)
  })

  test('the paper: 10 % of 200 ms and 90 % of 50 ms become 20 and 80', () => {
    const spans = Array.from({ length: 10 }, (_, i) => ({
      trace: `t${i}`,
      id: 'web',
      host: i < 1 ? 'loaded' : 'idle',
      startUs: 0,
      endUs: i < 1 ? 200_000 : 50_000,
    }))
    const scenario = reweightRequests({ by: 'host', shares: { loaded: 0.2 } })
    const result = applyScenario(learnExecutionModels(makeSpans(spans)), scenario)
    expect(result.before.meanUs).toBe(65_000)
    expect(result.profile.meanUs).toBeCloseTo(80_000, 6)
    expect(result.touched).toBe(10)
  })

  test('combines with other scenarios; recorded weights count once', () => {
    const sampled = makeSpans(SPANS.map((span) => ({ ...span, probability: 0.1 })))
    const hits = reweightRequests({ by: 'attribute:hit', shares: { true: 0.7 } })
    const hosts = reweightRequests({ by: 'host', shares: { a: 0.4 } })
    const half = scaleCalls({ service: 'web', factor: 0.5 })
    const scenario = combineScenarios(hits, hosts, half)
    const { profile } = applyScenario(learnExecutionModels(sampled), scenario)
    expect(profile.requests).toBeCloseTo(100, 9)
    expect(profile.meanUs).toBeCloseTo(160, 9)
  })

  test('says which kinds there are', () => {
    expect(() => profileUnder({ by: 'attribute:hit', shares: { yes: 0.5 } })).toThrow(
      'Option shares.yes is "yes". Give one of true, false.',
    )
    expect(() => profileUnder({ by: 'attribute:hti', shares: { true: 0.5 } })).toThrow(
      'Option shares.true is "true". Give a feature that some request has.',
    )
  })

  test('says which shares cannot be', () => {
    const shares = (of: Record<string, number>) => () => profileUnder({ by: 'host', shares: of })
    expect(shares({})).toThrow('Option shares is "empty"')
    expect(shares({ a: -0.1 })).toThrow('Option shares.a is -0.1')
    expect(shares({ a: 0.7, b: 0.7 })).toThrow('Option shares is "1.4 in all"')
    expect(shares({ a: 0.5, b: 0.2 })).toThrow(
      'shares that add up to 1: there are no other requests',
    )
  })

  test('says what requests can be divided by', () => {
    const by = 'color' as 'host'
    expect(() => reweightRequests({ by, shares: { red: 1 } })).toThrow(
      `Option by is "color". Give 'host', 'operation', 'calls', 'load', 'attribute:KEY'`,
    )
  })
})
