import { describe, expect, test } from 'vitest'
import { explain, explainEdge, explainMutation } from '../../../src/explain/parameters/explain.ts'
import type { Explanation } from '../../../src/explain/parameters/explanation.ts'
import { compareRequests, type RequestSketch, requests } from './fixture.ts'

const TENANTS = ['acme', 'beta', 'corp', 'dune', 'echo']

function compared(before: (i: number) => RequestSketch, after: (i: number) => RequestSketch) {
  return compareRequests(requests(600, before), requests(600, after))
}

/** Columns of the best explanation. */
function blamed({ paths }: Explanation): string[] {
  return (paths[0]?.conditions ?? []).map(({ column }) => column)
}

/** Spread that has nothing to do with any parameter. */
const noise = (i: number) => (i * 7919) % 23

describe('causes that a plain tree misses', () => {
  test('a few requests of one tenant take another path', () => {
    const tenant = (i: number) => ({ web: { tenant: TENANTS[i % 5] as string } })
    const comparison = compared(tenant, (i) => ({ ...tenant(i), disk: i % 5 === 2 }))
    const [mutation] = comparison.ranking.mutations.filter(({ kind }) => kind === 'structural')
    const explanation = explainMutation(comparison, mutation?.category as number)
    expect(explanation.paths[0]).toMatchObject({ predicts: 'mutation', recall: 1 })
    expect(explanation.paths[0]?.conditions).toMatchObject([
      { column: 'web READ · tenant', levels: ['corp'] },
    ])
  })

  test('what was not recorded is a value', () => {
    const cached = (i: number) => (i % 2 === 0 ? { web: { cache: i % 3 } } : {})
    const comparison = compared(
      (i) => ({ ...cached(i), storeUs: 100 + noise(i) }),
      (i) => ({ ...cached(i), storeUs: (i % 2 === 0 ? 300 : 100) + noise(i) }),
    )
    const explanation = explainMutation(comparison, 0)
    expect(explanation.paths[0]).toMatchObject({ question: 'what-is-slow', predicts: 'slow' })
    expect(explanation.paths[0]?.conditions).toMatchObject([
      { column: 'web READ · cache (recorded)', levels: ['yes'] },
    ])
  })

  test('an attribute that there is only after', () => {
    const comparison = compared(
      () => ({}),
      () => ({ web: { retry: 1 }, storeUs: 400 }),
    )
    expect(blamed(explainMutation(comparison, 0))).toEqual(['web READ · retry (recorded)'])
  })

  test('a slow step is explained by what the request began with', () => {
    const tenant = (i: number) => ({ web: { tenant: TENANTS[i % 5] as string } })
    const comparison = compared(
      (i) => ({ ...tenant(i), storeUs: 100 + noise(i) }),
      (i) => ({ ...tenant(i), storeUs: 100 + noise(i) + (i % 5 > 1 ? 500 : 0) }),
    )
    const [finding] = comparison.findings.findings
    const explanation = explain(comparison, finding as NonNullable<typeof finding>)
    expect(explanation.paths[0]?.conditions).toMatchObject([
      { column: 'web READ · tenant', levels: ['corp', 'dune', 'echo'] },
    ])
  })

  test('ids of a few kinds are kinds', () => {
    const tenant = (i: number) => ({ web: { 'tenant.id': 100 + (i % 4) } })
    const comparison = compared(
      (i) => ({ ...tenant(i), storeUs: 100 + noise(i) }),
      (i) => ({ ...tenant(i), storeUs: 100 + noise(i) + (i % 4 === 1 ? 500 : 0) }),
    )
    expect(explainMutation(comparison, 0).paths[0]?.conditions).toMatchObject([
      { column: 'web READ · tenant.id', levels: ['101'] },
    ])
  })

  test('versions are names', () => {
    const version = (i: number) => ({ web: { ver: i % 2 === 0 ? '1.1' : '1.10' } })
    const comparison = compared(
      (i) => ({ ...version(i), storeUs: 100 + noise(i) }),
      (i) => ({ ...version(i), storeUs: (i % 2 === 0 ? 100 : 400) + noise(i) }),
    )
    expect(explainMutation(comparison, 0).paths[0]?.conditions).toMatchObject([
      { column: 'web READ · ver', levels: ['1.10'] },
    ])
  })
})

describe('what explains nothing', () => {
  test('a counter, though slowness begins in the middle of the period', () => {
    const comparison = compared(
      (i) => ({ web: { seq: i }, storeUs: 100 + noise(i) }),
      (i) => ({ web: { seq: i }, storeUs: (i < 300 ? 100 : 400) + noise(i) }),
    )
    const explanation = explainMutation(comparison, 0)
    expect(explanation.paths).toEqual([])
    expect(explanation.leftOut).toContainEqual({ column: 'web READ · seq', reason: 'counter' })
  })

  test('a parameter of next to no effect within a slowdown of all', () => {
    const tenant = (i: number) => ({ web: { tenant: TENANTS[i % 5] as string } })
    const comparison = compared(
      (i) => ({ ...tenant(i), storeUs: 1000 + noise(i) }),
      (i) => ({ ...tenant(i), storeUs: 250_000 + noise(i) + (i % 5 === 2 ? 100 : 0) }),
    )
    expect(explainMutation(comparison, 0).paths).toEqual([])
  })

  test('parameters without any influence', () => {
    const any = (seed: number) => (i: number) => ({
      web: {
        a: TENANTS[(i * seed) % 5] as string,
        b: (i * i * seed) % 97,
        c: (i + seed) % 3 === 0,
      },
      storeUs: 100 + noise(i * seed),
    })
    expect(explainMutation(compared(any(31), any(37)), 0).paths).toEqual([])
  })
})

test('requests that begin differently share no place but the request', () => {
  const mixed = (i: number) => ({ storeUs: 100 + noise(i), web: { size: i % 9 } })
  const other = requests(200, mixed).map((span) =>
    span.service === 'web'
      ? { ...span, trace: `x${span.trace}`, operation: 'WRITE' }
      : { ...span, trace: `x${span.trace}` },
  )
  const comparison = compareRequests(
    [...requests(200, mixed), ...other],
    [...requests(200, mixed), ...other],
  )
  const store = { service: 'store', operation: 'get', host: '' }
  const edge = {
    fromNode: { ...store, phase: 'call' },
    toNode: { ...store, phase: 'reply' },
  } as const
  const names = explainEdge(comparison, edge).questions.flatMap(({ table }) =>
    table.parameters.map(({ name }) => name),
  )
  expect(names).toContain('request · operation')
  expect(names).toContain('request · size')
  expect(names.some((name) => name.startsWith('web '))).toBe(false)
})
