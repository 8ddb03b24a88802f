import { describe, expect, test } from 'vitest'
import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import {
  compareHosts,
  findHostClasses,
  groupHosts,
} from '../../../src/compare/hosts/host-classes.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeGraphs, makeSpans, type SpanSketch } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { call, spansOf } from '../../worlds.ts'

interface Cluster {
  readonly hosts: number
  readonly requests: number
  /** How many times longer a host takes than others. */
  readonly slowness?: (host: number) => number
  readonly seed?: number
}

const nameOf = (host: number) => `node${String(host).padStart(2, '0')}`

/** Requests that read from one random host each, 100 µs long on average. */
function reads({ hosts, requests, slowness = () => 1, seed = 1 }: Cluster): SpanSketch[] {
  return spansOf({ seed, requests, everyUs: 0, name: 't' }, (r) => {
    const host = Math.floor(r.next() * hosts)
    const tookUs = -100 * Math.log(1 - r.next()) * slowness(host)
    return call('web', [10, 10], {}, [call('read', tookUs, { host: nameOf(host) })])
  })
}

const classesOf = (cluster: Cluster, options = {}) =>
  findHostClasses(buildFlows(makeSpans(reads(cluster))), options)

describe('host classes', () => {
  test('hosts of a homogeneous cluster are one class', () => {
    const found = classesOf({ hosts: 10, requests: 600 })
    expect(found.classes.map(({ name, hosts }) => [name, hosts.length])).toEqual([['node*', 10]])
  })

  test('slow hosts stand apart, behind the others, with how slow they are', () => {
    const slowness = (host: number) => (host < 3 ? 3 : 1)
    const found = classesOf({ hosts: 12, requests: 1200, slowness })
    expect(found.classes.map(({ name, hosts }) => [name, hosts.length])).toEqual([
      ['node* 1', 9],
      ['node* 2', 3],
    ])
    expect(found.classOf('node02').name).toBe('node* 2')
    expect(found.classes[1]?.slowness).toBeGreaterThan(2)
    expect(found.classes[1]?.slowness).toBeLessThan(4)
  })

  test('one slow host alone keeps its name', () => {
    const slowness = (host: number) => (host === 7 ? 4 : 1)
    const found = classesOf({ hosts: 10, requests: 800, slowness })
    expect(found.classes.map(({ name }) => name)).toEqual(['node*', 'node07'])
  })

  test('hosts that differ surely, but by little, are alike', () => {
    const slowness = (host: number) => (host < 2 ? 1.08 : 1)
    const cluster = { hosts: 4, requests: 40_000, slowness }
    expect(classesOf(cluster).size).toBe(1)
    expect(classesOf(cluster, { minimumEffect: 0 }).size).toBe(2)
  })

  test('hosts with too few spans join their peers, and the table says they were not compared', () => {
    const found = classesOf({ hosts: 10, requests: 30 })
    expect(found.size).toBe(1)
    expect(new Set(found.table().array('compared'))).toEqual(new Set([false]))
    expect(found.matrix().numRows()).toBe(0)
  })

  test('hosts that do nothing in common are never one class', () => {
    const spans = reads({ hosts: 2, requests: 200 }).map((span) => ({
      ...span,
      operation: span.host ?? 'web',
    }))
    const found = findHostClasses(buildFlows(makeSpans(spans)))
    expect(found.classes.map(({ hosts }) => hosts)).toEqual([['node00'], ['node01']])
  })

  test('in place of hosts they keep slow and fast requests apart, and no more', () => {
    const slowness = (host: number) => (host < 3 ? 3 : 1)
    const flows = buildFlows(makeSpans(reads({ hosts: 12, requests: 1200, slowness })))
    expect(categorize(flows).size).toBe(12)
    const { label } = findHostClasses(flows)
    const categories = categorize(flows, { label })
    expect(categories.size).toBe(2)
    expect(categories.structure(0).labels).toContainEqual(expect.stringMatching(/node\* [12] call/))
  })

  test('are the same whatever the order of requests', () => {
    const slowness = (host: number) => (host < 3 ? 3 : 1)
    const spans = reads({ hosts: 12, requests: 1200, slowness })
    const one = findHostClasses(buildFlows(makeSpans(spans)))
    const other = findHostClasses(buildFlows(makeSpans([...spans].reverse())))
    expect(other.classes).toEqual(one.classes)
  })

  test('of trace points are those of machines, by edges within them', () => {
    const random = randomSource(3)
    const graphs = Array.from({ length: 400 }, (_, i) => {
      const machine = `sn${i % 4}`
      const tookUs = (i % 4 === 3 ? 500 : 100) * (1 + random.next())
      return {
        labels: [`${machine}__t${i % 7}__READ`, `${machine}__t${i % 7}__DONE`],
        edges: [[0, 1]] as const,
        latencyUs: [tookUs],
      }
    })
    const flows = buildFlows(makeGraphs(graphs))
    const found = findHostClasses(flows)
    expect(found.classes.map(({ name }) => name)).toEqual(['sn*', 'sn3'])
    expect(found.matrix().array('operation')[0]).toBe('READ → DONE')
    expect(found.label(flows.labels.get(0))).toBe('sn*__t0__READ')
  })

  test('a period is compared by itself', () => {
    const early = reads({ hosts: 4, requests: 200 })
    const late = reads({ hosts: 8, requests: 400, slowness: () => 5, seed: 2 }).map((span) => ({
      ...span,
      trace: `late ${span.trace}`,
    }))
    expect(findHostClasses(buildFlows([makeSpans(early), makeSpans(late)])).size).toBe(1)
  })

  test('an unknown host has no class', () => {
    expect(() => classesOf({ hosts: 2, requests: 99 }).classOf('node99')).toThrow(
      'There is no class of host "node99". Give one of the column host of .table(): node00, node01',
    )
  })

  test('options are checked', () => {
    const cluster = { hosts: 2, requests: 20 }
    expect(() => classesOf(cluster, { alpha: 2 })).toThrow('Option alpha is 2.')
    expect(() => classesOf(cluster, { minimumEffect: -1 })).toThrow('Option minimumEffect is -1.')
  })
})

/** Reads of ten hosts; of the first three, slow requests are kept and of others one in five. */
function preferred({ seed, ...cluster }: Pick<Cluster, 'seed' | 'slowness'>) {
  const random = randomSource((seed ?? 0) + 100)
  const spans = reads({ hosts: 10, requests: 2000, seed: seed ?? 1, ...cluster })
  const kept = Array.from({ length: spans.length / 2 }, (_, i): SpanSketch[] => {
    const [root, read] = spans.slice(2 * i, 2 * i + 2) as [SpanSketch, SpanSketch]
    const isThinned = ['node00', 'node01', 'node02'].includes(read.host ?? '') && read.endUs < 110
    if (isThinned && random.next() > 0.2) return []
    return [{ ...root, probability: isThinned ? 0.2 : 1 }, read]
  })
  return makeSpans(kept.flat())
}

describe.each([
  { seeds: 3, atMost: 0, tags: [] },
  { seeds: 20, atMost: 1, tags: ['full'] },
])('of $seeds samples that preferred slow requests of some hosts', ({ seeds, atMost, tags }) => {
  test('hosts are like others by weight, and those that are slow are not', { tags }, () => {
    const apart = (counts: 'raw' | 'weighted') =>
      Array.from({ length: seeds }, (_, seed) =>
        findHostClasses(buildFlows(preferred({ seed }), { counts })),
      ).filter(({ size }) => size > 1).length
    expect(apart('raw')).toBe(seeds)
    expect(apart('weighted')).toBeLessThanOrEqual(atMost)
    const slowness = (host: number) => (host < 2 ? 3 : 1)
    const { classes } = findHostClasses(buildFlows(preferred({ slowness })))
    expect(classes.map(({ hosts }) => hosts.length)).toEqual([8, 2])
    expect(classes[1]?.slowness).toBeGreaterThan(2)
    expect(classes[1]?.slowness).toBeLessThan(4)
  })
})

test('of 100 homogeneous clusters, at most five come apart', () => {
  const random = randomSource(9)
  const operation = () => ({
    operation: 'read',
    byHost: new Map(
      Array.from({ length: 12 }, (_, host) => [
        nameOf(host),
        Float64Array.from({ length: 30 }, () => -Math.log(1 - random.next())).sort(),
      ]),
    ),
  })
  let apart = 0
  for (let i = 0; i < 100; i++) {
    const pairs = compareHosts([operation(), operation()], { alpha: 0.05, minimumEffect: 0.1 })
    if (groupHosts(pairs).length > 1) apart++
  }
  expect(apart).toBeLessThanOrEqual(5)
})

describeWithShared('TraceBench', () => {
  const FOLDER = 'data/tracebench-hdfs'
  const datanodes = async (run: string) => {
    const folder = sharedFile(`${FOLDER}/${run}`) as string
    const flows = buildFlows(await readTracebench(folder))
    return findHostClasses(flows)
      .classes.filter(({ hosts }) => hosts[0]?.startsWith('datanode'))
      .map(({ hosts }) => hosts.map((host) => Number(host.slice('datanode'.length))))
  }

  test('tb3: datanodes 1 to 25, which are slow, and the rest are two classes', async () => {
    const [fast, slow, ...more] = await datanodes('w_netdelay_20ms_on_25_of_50_datanodes')
    expect(slow).toEqual(Array.from({ length: 25 }, (_, i) => i + 1))
    expect(fast).toEqual(Array.from({ length: 25 }, (_, i) => i + 26))
    expect(more).toEqual([])
  })

  test.each(['w_normal_a', 'w_normal_b', 'w_netdelay_all_20ms'])(
    '%s: all fifty are alike',
    { tags: 'full' },
    async (run) => {
      expect((await datanodes(run)).map(({ length }) => length)).toEqual([50])
    },
  )
})
