import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { TraceSet } from '../../../src/traces/trace-set.ts'
import { NOON_US } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { call, record } from '../../worlds.ts'

/** Expects one finding of B's work with all of the change, at no narrower condition. */
function expectWhole([before, after]: readonly TraceSet[]) {
  const [first, ...others] = compare(before as TraceSet, after as TraceSet).findings.findings
  expect(others).toEqual([])
  expect(first?.title).toMatch(/^B: \S+ itself takes .* longer/)
  expect(first?.title).not.toContain('only where')
  expect(first?.shareOfChange).toBeGreaterThan(0.9)
  expect(first?.shareOfChange).toBeLessThan(1.1)
}

describeWithShared('the recorded case series-makes-worse', () => {
  test('finds with the series what it finds without it', async () => {
    const folder = sharedFile('cases/papers/series-makes-worse')
    for (const options of [{}, { series: `${folder}/cpu.csv.gz` }]) {
      const load = (name: string) => loadTraces(`${folder}/${name}.json.gz`, { name, ...options })
      expectWhole(await Promise.all([load('before'), load('after')]))
    }
  })
})

interface Busy {
  readonly share: number
  readonly slowUs: number
  readonly name: string
}

/** A calls B, which is slow in busy seconds: `name` is high in these. */
function period({ share, slowUs, name }: Busy, fromUs: number, seed: number) {
  let load = 0
  return record({ seed, requests: 1000, everyUs: 500_000, fromUs }, (r) => {
    if (r.index % 2 === 0) load = r.is(share) ? 80 + 10 * r.next() : 10 + 20 * r.next()
    const workUs = r.about(load > 60 ? slowUs : 8000)
    const work = call('B', workUs, { attributes: { [name]: load } })
    return call('A', r.about(12_000), {}, [work])
  })
}

describe('a state that more requests meet than before', () => {
  test.each([
    ['series.cpu', 0.05, 0.5, 30_000],
    ['series.queue', 0.1, 0.4, 26_000],
  ])('%s is no segment of the change', (name, was, is, slowUs) => {
    for (const seed of [1]) {
      expectWhole([
        period({ share: was, slowUs, name }, NOON_US, 2 * seed),
        period({ share: is, slowUs, name }, NOON_US + 3.6e9, 2 * seed + 1),
      ])
    }
  })
})
