import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { diagnoseExplosion } from '../../../src/explain/explosion/diagnose-explosion.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeGraphs, makeSpans } from '../../make-traces.ts'

/** Requests of a service that is called by its pods, as CSV of stateful sets has it. */
const random = randomSource(1)
const pods = Array.from({ length: 140 }, (_, i) => {
  const [front, data] = [10, 13].map((many) => random.integer(many))
  const of = (name: string) => ({ trace: `t${i}`, service: name, host: name })
  return [
    { ...of(`frontend-${front}`), id: 'a', operation: 'get', startUs: 0, endUs: 100 },
    { ...of(`datanode-${data}`), id: 'b', parent: 'a', operation: 'read', startUs: 5, endUs: 80 },
  ]
}).flat()

describe('pods that are called services', () => {
  const explosion = diagnoseExplosion(categorize(buildFlows(makeSpans(pods))))

  test('are found as ids in names, and taken out', () => {
    expect(explosion.sizes.categories).toBeGreaterThan(70)
    expect(explosion.causes).toEqual(['ids in names'])
    expect(explosion.remedies[0]).toMatchObject({
      remedy: 'strip ids',
      categories: 1,
      options: null,
    })
  })

  test('the text names the cause, and what its remedy leaves', () => {
    expect(explosion.text()).toContain('set apart by ids in names.')
    expect(explosion.text()).toContain('leaves 1 category')
  })
})

describe('what cannot be known is not said', () => {
  const graphs = Array.from({ length: 50 }, (_, i) => ({
    labels: [`ask ${'abcdefghij'[i % 10]}${'klmno'[i % 5]}${'pqrstuvwxyz'[i % 11]}`, 'end'],
    edges: [[0, 1]] as const,
  }))

  test('of requests that differ in nothing that is looked at', () => {
    const text = diagnoseExplosion(categorize(buildFlows(makeGraphs(graphs)))).text()
    expect(text).toContain(
      'differ in the work they do: hosts, threads, sibling order, loop counts and ids',
    )
    expect(text).toContain('`categorize(flows, { label })`')
    expect(text).not.toContain('nothing else')
  })

  test('of one request, and of more possibilities than there are numbers', () => {
    const one = categorize(buildFlows(makeGraphs(graphs.slice(0, 1))))
    const text = diagnoseExplosion(one, { cluster: { hosts: 1000, replicas: 200 } }).text()
    expect(text).toMatch(/^1 request is in 1 category/)
    expect(text).toContain('of more than 1e308 possible')
  })
})

test('remedies name what does them on the command line', () => {
  const graphs = [2, 3].map((rounds) => ({
    labels: ['start', ...Array.from({ length: rounds }, () => 'step'), 'end'],
    edges: Array.from({ length: rounds + 1 }, (_, i) => [i, i + 1] as const),
  }))
  const { remedies } = diagnoseExplosion(categorize(buildFlows(makeGraphs(graphs))))
  expect(remedies.find(({ remedy }) => remedy === 'fold loops')?.options).toEqual({ fold: 'log2' })
})

test('flows that are not categorized are refused with what to do', () => {
  const flows = buildFlows(makeSpans(pods))
  expect(() => diagnoseExplosion(flows as never)).toThrow('diagnoseExplosion(categorize(flows))')
})
