import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { serviceTraces } from '../../whatif/scenarios/service-traces.ts'

export const SERVICES = {
  web: { ownUs: 500, calls: ['cart', 'price'] },
  cart: { ownUs: 1000, calls: ['stock', 'db'], parallel: true },
  price: { ownUs: 1500, calls: ['db'] },
  stock: { ownUs: 4000, calls: [] },
  db: { ownUs: 800, calls: [] },
} as const

/** Requests to a shop of five services, and the same while `db` takes 3 ms longer. */
export const [BEFORE, AFTER] = (['before', 'after'] as const).map((name, i) =>
  serviceTraces({
    services: SERVICES,
    root: 'web',
    requests: 150,
    seed: i + 1,
    name,
    ...(name === 'after' && { slower: { db: { serverUs: 3000 } } }),
  }),
) as [SpanTraces, SpanTraces]

/** Two services of which one is called `name`, and is slower in `after`. */
export function namedServices(name: string): readonly [SpanTraces, SpanTraces] {
  const services = {
    web: { ownUs: 500, calls: [name] },
    [name]: { ownUs: 2000, calls: [] },
  }
  const period = (seed: number, serverUs: number) =>
    serviceTraces({
      services,
      root: 'web',
      requests: 60,
      seed,
      name: `period of ${name}`,
      slower: { [name]: { serverUs } },
    })
  return [period(1, 0), period(2, 5000)]
}
