import { expect, test } from 'vitest'
import { checkRun } from '../../src/compare/baseline/check-run.ts'
import { parseHistory, summarizeRun } from '../../src/compare/baseline/run-summary.ts'
import { call, record } from '../worlds.ts'

/** A run of 3,000 requests of which all that fail are kept, and one in ten others. */
function run(rate: number, seed: number) {
  const traces = record({ seed, requests: 3000, everyUs: 1e5 }, (r) => {
    const fails = r.is(rate)
    const probability = fails ? 1 : 0.1
    return r.is(probability) && call('web', 2000 + r.integer(500), { fails, probability })
  })
  return summarizeRun(`run ${seed}`, traces)
}

const growth = (rate: number, seed: number) =>
  checkRun(run(rate, seed), [run(0.022, seed + 100)]).types[0]?.errors?.growth

test('a check is sure that 2.2 % → 6.2 % of requests fail where only others were thinned out', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { value, low } = growth(0.062, seed) ?? {}
    expect(value).toBeCloseTo(0.04, 1)
    expect(low).toBeGreaterThan(0.01)
  }
})

test('and of no growth where as many fail', () => {
  const sure = Array.from({ length: 40 }, (_, seed) => growth(0.022, seed)?.low ?? 0)
  expect(sure.filter((low) => low > 0).length).toBeLessThanOrEqual(2)
})

test('a history keeps it', () => {
  const one = run(0.05, 1)
  expect(parseHistory(JSON.stringify(one), 'history.jsonl')).toEqual([one])
  const [type] = one.types
  expect((type?.weighted?.failed ?? 0) / (type?.weighted?.requests ?? 1)).toBeCloseTo(0.05, 1)
  const broken = { ...one, types: [{ ...type, weighted: { failed: 3, requests: 2 } }] }
  expect(() => parseHistory(JSON.stringify(broken), 'history.jsonl')).toThrow(
    'history.jsonl, line 1 is no summary of a run',
  )
})
