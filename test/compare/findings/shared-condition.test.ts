import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { firstQuick } from '../../first-quick.ts'
import { type Period, period, type Request, SERVICES } from './five-services.ts'

const told = (after: Omit<Period, 'seed'>) => {
  const { pages = ['it'], isOfTenants = false } = after
  return compare(period({ seed: 1, pages, isOfTenants }), period({ seed: 2, ...after })).findings
}

/** What services do for whom takes twice as long. */
const slow = (isSlow: (service: string, of: Request) => boolean) => ({
  isOfTenants: true,
  slower: (service: string, _: string, of: Request) => (isSlow(service, of) ? 2 : 1),
})

test('two services that take longer for one tenant alone are one finding, which names the tenant', () => {
  const { findings, observedChangeUs } = told(
    slow((service, { tenant }) => tenant === 2 && ['price', 'stock'].includes(service)),
  )
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(
      /^tenant = 2: the work of 2 services takes [56]\.\d+ ms longer; not elsewhere$/,
    ),
  ])
  const [first] = findings
  expect(first).toMatchObject({ services: ['stock', 'price'], requests: 100 })
  expect(first?.consequences.map(({ services }) => services[0]).sort()).toEqual(['price', 'stock'])
  expect(Math.abs((first?.contributionUs ?? 0) / observedChangeUs - 1)).toBeLessThan(0.15)
})

describe.each(
  firstQuick([
    [
      'two services that take longer for a tenant each',
      slow(
        (one, { tenant }) => (one === 'price' && tenant === 1) || (one === 'stock' && tenant === 2),
      ),
    ],
    [
      'two services that take longer for one page',
      {
        ...slow((one, { page }) => page === 'home' && ['price', 'stock'].includes(one)),
        pages: ['home', 'basket'],
      },
    ],
  ]),
)('conditions apart', ({ rows, tags }) => {
  test.each(rows)('%s are two findings', { tags }, (_, after) => {
    const { findings } = told(after)
    expect(findings.map(({ services }) => services[0]).sort()).toEqual(['price', 'stock'])
  })
})

describe('calls that fail', () => {
  const failing = (isFailing: (service: string, host: string, tenant: number) => boolean) => ({
    isOfTenants: true,
    failing: (service: string, host: string, { tenant }: Request) =>
      isFailing(service, host, tenant) ? 0.3 : 0,
  })

  test('in all services on one host are one finding, which names the host', () => {
    const { findings } = told(failing((_, host) => host === 'node-2'))
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(
        /^host = node-2: calls to 5 services there fail in \d+ of \d+ requests \(0 of \d+ before\)$/,
      ),
    ])
    const [first] = findings
    expect(first).toMatchObject({
      kind: 'errors',
      place: { attribute: 'host', value: 'node-2' },
      look: 'everything with host = node-2',
      size: { unit: 'rate', per: 'request' },
    })
    const own = first?.consequences.filter(({ calls: [call] }) => call?.kind === 'fails') ?? []
    expect(own.flatMap(({ services }) => services[0]).sort()).toEqual(SERVICES)
  })

  test('in two services for one tenant are one finding', () => {
    const { findings } = told(
      failing((service, _, tenant) => tenant === 3 && ['price', 'stock'].includes(service)),
    )
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^tenant = 3: calls to 2 services fail in \d+ of 100 requests/),
    ])
  })

  test('in two of the five services on a host are two findings', () => {
    const { findings } = told(
      failing((service, host) => host === 'node-2' && ['price', 'stock'].includes(service)),
    )
    expect(findings.map(({ services }) => services[0]).sort()).toEqual(['price', 'stock'])
  })
})
