import { expect, test } from 'vitest'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { serviceTraces } from './scenarios/service-traces.ts'

const services = {
  web: { ownUs: 500, calls: ['cart', 'price'] },
  cart: { ownUs: 1000, calls: ['stock'] },
  price: { ownUs: 1500, calls: [] },
  stock: { ownUs: 4000, calls: [] },
} as const

test.each([100, 200, 400])(
  'what may be chance never stands before what is significant (%i µs)',
  (serverUs) => {
    const [before, after] = [1, 2].map((seed) =>
      serviceTraces({
        services,
        root: 'web',
        requests: 400,
        seed,
        name: `period ${seed}`,
        ...(seed === 2 && { slower: { price: { serverUs } } }),
      }),
    )
    const { ranked } = diagnoseLatency(before as never, after as never, { depth: 3 })
    const marks = ranked.map(({ significant }) => significant)
    expect(marks).toEqual(marks.toSorted((a, b) => Number(b) - Number(a)))
    expect(ranked.map(({ rank }) => rank)).toEqual(ranked.map((_, i) => i + 1))
  },
)
