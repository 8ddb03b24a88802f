import { describe, expect, test } from 'vitest'
import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { explainEdge } from '../../../src/explain/parameters/explain.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { compareRequests, requests } from './fixture.ts'

describe('calls of an edge', () => {
  const hosts = (slow: boolean) => (i: number) => ({
    host: `node${i % 8}`,
    disk: i % 2 === 0,
    web: { tenant: `t${i % 5}` },
    storeUs: 100 + ((i * 31) % 17) + (slow && i % 8 > 5 ? 200 : 0),
  })
  const comparison = compareRequests(requests(240, hosts(false)), requests(240, hosts(true)))
  const edge = comparison.edges.edges.find(
    ({ fromNode, toNode }) => fromNode.service === 'disk' && toNode.service === 'store',
  )

  test('are pooled over categories, hosts being a parameter', () => {
    expect(comparison.categories.size).toBe(2)
    const own = {
      fromNode: { service: 'store', operation: 'get', host: '', phase: 'call' },
      toNode: { service: 'store', operation: 'get', host: '', phase: 'reply' },
    } as const
    const explanation = explainEdge(comparison, own)
    expect(explanation.question('what-is-slow')?.table.size).toBe(120)
    expect(explanation.paths[0]).toMatchObject({
      question: 'what-is-slow',
      conditions: [{ column: 'store get · host', levels: ['node7'] }],
      predicts: 'slow',
      precision: 1,
    })
    // Where requests begin is asked only once a request.
    const differs = explanation.question('what-differs')
    expect(differs?.table.parameters.map(({ name }) => name)).toContain('web READ · tenant')
    expect(differs?.paths).toEqual([])
  })

  test('an edge into a reply has the parameters of the span that answers', () => {
    const explanation = explainEdge(comparison, edge as NonNullable<typeof edge>)
    expect(explanation.paths[0]?.conditions).toMatchObject([
      { column: 'store get · host', levels: ['node6'] },
    ])
    expect(explanation.text()).toContain('calls are slow')
  })

  test('an edge that is not there', () => {
    const node = { service: 'x', operation: 'y', host: '', phase: 'call' } as const
    expect(() => explainEdge(comparison, { fromNode: node, toNode: node })).toThrow(
      'No request has the edge x y. Take one of comparison.edges.edges.',
    )
  })
})

describeWithShared('TraceBench: 25 of 50 datanodes are slow', () => {
  test('what is slow? the host that is written to, and exactly those 25', {
    tags: 'full',
  }, async () => {
    const folder = sharedFile('data/tracebench-hdfs') as string
    const before = await readTracebench(`${folder}/w_normal_a`)
    const after = await readTracebench(`${folder}/w_netdelay_20ms_on_25_of_50_datanodes`)
    const comparison = compare(before, after, { omitHosts: true })
    const faulty = Array.from({ length: 25 }, (_, i) => `datanode${String(i + 1).padStart(3, '0')}`)
    const changed = comparison.edges.changes.map((edge) => ({
      edge,
      path: explainEdge(comparison, edge).paths[0],
    }))
    const named = changed.map(({ edge, path }) => {
      const [condition] = path?.conditions ?? []
      const hosts = condition?.kind === 'levels' ? condition.levels : []
      const hits = hosts.filter((host) => faulty.includes(host)).length
      return {
        operation: edge.fromNode.operation,
        question: path?.question,
        column: condition?.column,
        precision: hits / hosts.length,
        recall: hits / faulty.length,
      }
    })
    console.info(named)
    expect(named[0]).toMatchObject({
      question: 'what-is-slow',
      column: 'Datanode receiveBlock · host',
    })
    // A block is received as fast as by the slowest of three, so that others seem slow with it.
    expect(named[0]?.recall).toBeGreaterThanOrEqual(0.9)
    expect(named[0]?.precision).toBeGreaterThanOrEqual(0.8)
    expect(named[1]).toEqual({
      operation: 'createBlockOutputStream',
      question: 'what-is-slow',
      column: 'DFSClient createBlockOutputStream · target',
      precision: 1,
      recall: 1,
    })
  })
})
