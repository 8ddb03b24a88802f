import { expect, test } from 'vitest'
import {
  evenScale,
  SFS97_SCALE,
  simulatedDot,
  simulatedTemplates,
} from '../../../datasets/simulated/simulated-flows.ts'
import { moments } from '../../../src/stats/moments.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'

const templates = simulatedTemplates(SFS97_SCALE)

test('at the scale of SFS 97, categories have about 206 nodes on average, SD about 200', () => {
  const { count, mean, sd } = moments(templates.map(({ labels }) => labels.length))
  expect(count).toBe(1602)
  expect(mean).toBeGreaterThan(180)
  expect(mean).toBeLessThan(232)
  expect(sd).toBeGreaterThan(160)
  expect(sd).toBeLessThan(240)
})

test('and requests about 30, SD about 51', () => {
  const total = templates.reduce((sum, { rates }) => sum + rates[0], 0)
  const mean = templates.reduce((sum, t) => sum + t.labels.length * t.rates[0], 0) / total
  const variance =
    templates.reduce((sum, t) => sum + (t.labels.length - mean) ** 2 * t.rates[0], 0) / total
  expect(mean).toBeGreaterThan(25)
  expect(mean).toBeLessThan(35)
  expect(Math.sqrt(variance)).toBeGreaterThan(40)
  expect(Math.sqrt(variance)).toBeLessThan(62)
})

test('every simulated graph is one that the reader takes', async () => {
  const few = simulatedTemplates(evenScale(20, 12), { seed: 3 })
  const text = [...simulatedDot(few, { requests: 200, period: 0, seed: 4 })].join('')
  const traces = await loadTraces({ name: 'simulated.dot', bytes: text }, { strict: true })
  expect(traces.size).toBe(200)
})

test('the same seed gives the same text', () => {
  const [once, again] = [1, 2].map(() => [
    ...simulatedDot(simulatedTemplates(evenScale(5, 10)), { requests: 9, period: 1, seed: 2 }),
  ])
  expect(once).toEqual(again)
})
