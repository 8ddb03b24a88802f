import { expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { diagnoseLatency } from '../../../src/whatif/diagnosis/diagnose-latency.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { serviceTraces } from '../../whatif/scenarios/service-traces.ts'
import { call, record } from '../../worlds.ts'

const SERVICES = {
  web: { ownUs: 500, calls: ['cart', 'price'] },
  cart: { ownUs: 1000, calls: ['db'] },
  price: { ownUs: 1500, calls: ['db'] },
  db: { ownUs: 800, calls: [] },
}
const simulated = (seed: number, serverUs = 0) =>
  serviceTraces({
    services: SERVICES,
    root: 'web',
    requests: 300,
    seed,
    slower: { db: { serverUs } },
  })

test('a service that calls nothing is explained by its own time', () => {
  const { best } = diagnoseLatency(simulated(1), simulated(2, 4000), { service: 'db' })
  expect(best?.scenario).toMatchObject({ title: 'own time of db serve db as after', service: 'db' })
  expect(best?.significant).toBe(true)
})

test('requests of one span are explained by their own time, also without a second period', () => {
  const period = (us: number) =>
    record({ seed: 1, requests: 200, everyUs: 1e5 }, ({ index }) =>
      call('job', us + (index % 50) * 20),
    )
  const { best } = diagnoseLatency(period(3000), period(7000))
  expect(best?.scenario.title).toBe('own time of job call as after')
  const wish = diagnoseLatency(period(3000), { quantile: 0.99, belowUs: 3500 })
  expect(wish.ranked.map(({ scenario }) => scenario.title)).toContain('own time of job call × 0.8')
})

test('the own time of a leaf within a request is its server time, which stands once', () => {
  const { ranked } = diagnoseLatency(simulated(3), simulated(4, 4000))
  const titles = ranked.map(({ scenario }) => scenario.title)
  expect(titles[0]).toBe('server time of db serve db as after')
  expect(titles).not.toContain('own time of db serve db as after')
})

describeWithShared('the recorded case leaf-service', () => {
  test('tells the own time of bank', async () => {
    const load = (period: string) =>
      loadTraces(sharedFile(`cases/papers/leaf-service/${period}.json.gz`) as string)
    const { best, divergence } = diagnoseLatency(await load('before'), await load('after'), {
      service: 'bank',
    })
    expect(best?.scenario.title).toBe('own time of bank authorize as after')
    expect(best?.divergence).toBeLessThan(0.05 * divergence)
  })
})
