import { describe, expect, test } from 'vitest'
import { RAND_SORT } from '../../../datasets/hdfs-writes/hdfs-requests.ts'
import { hdfsDot, hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { foldedSizes } from '../../../src/flows/fold/folded-flows.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'

describe('writes of a block', () => {
  test('of 64 MB have 15,386 trace points, and 41 folded, all of them', () => {
    const flows = foldFlows(buildFlows(hdfsTraces({ writes: 3 })))
    const [sizes] = foldedSizes(flows, [0, 0, 0]).objects() as Record<string, number>[]
    expect(sizes).toMatchObject({ nodesMean: 15_386, foldedMean: 41, foldedSd: 0 })
  })

  test('of one and of three portions have 41 and 71: 56 with SD 21.2, as the thesis has it for grep', () => {
    const flows = [1, 3].map((portions) => buildFlows(hdfsTraces({ writes: 1, portions })))
    expect(flows.map(({ shapes }) => shapes.nodeCount(0))).toEqual([41, 71])
  })

  test('go to as many datanodes as there are replicas, each another', () => {
    const { labels, shapes } = hdfsTraces({ writes: 1, portions: 1, replication: 5 })
    const machines = Array.from(shapes.labels(0), (label) => labels[label] as string)
      .filter((label) => label.includes('__SET_UP_RECEIVED'))
      .map((label) => label.slice(0, 4))
    expect(new Set(machines).size).toBe(5)
  })

  test('the same seed gives the same text, another seed another', () => {
    const text = (seed: number) =>
      [...hdfsDot({ writes: 2, others: 3, portions: 2, seed })].join('')
    expect(text(1)).toBe(text(1))
    expect(text(1)).not.toBe(text(2))
  })

  test('as DOT they are what the reader takes, and the same', async () => {
    const workload = { writes: 2, others: 5, portions: 3, seed: 4 }
    const bytes = [...hdfsDot(workload)].join('')
    const read = await loadTraces({ name: 'hdfs.dot', bytes }, { strict: true })
    const made = hdfsTraces(workload)
    expect(read.size).toBe(7)
    expect(categorize(buildFlows([read, made])).size).toBe(categorize(buildFlows(made)).size)
  })

  test('more replicas than datanodes are refused', () => {
    expect(() => hdfsTraces({ datanodes: 2 })).toThrow(
      'Option datanodes is 2. Give a whole number, 3 or more.',
    )
  })
})

describe('a run like rand sort', () => {
  // Portions do not change which categories there are; few make the test quick.
  const flows = foldFlows(buildFlows(hdfsTraces({ ...RAND_SORT, portions: 16 })))
  const isWrite = Array.from(flows.shapeOf, (shape) =>
    flows.labels.text(flows.shapes.labels(shape)[0] as number).includes('NEW_BLOCK') ? 1 : 0,
  )

  test('has 1,530 requests, 139 of them writes, in about 126 categories, SD 3.1', () => {
    const { categoryOf } = categorize(flows)
    const categories = new Set(categoryOf.filter((_, request) => isWrite[request] === 1))
    expect(isWrite).toHaveLength(1530)
    expect(isWrite.filter((write) => write === 1)).toHaveLength(139)
    expect(categories.size).toBeGreaterThan(126.5 - 3 * 3.1)
    expect(categories.size).toBeLessThan(126.5 + 3 * 3.1)
  })

  test('without hosts, has few, nearly all writes in one, whose C² is below 1', () => {
    const rows = categorize(flows, { omitHosts: true }).table().objects() as {
      root: string
      before: number
      beforeC2: number
    }[]
    const writes = rows.filter(({ root }) => root.startsWith('NEW_BLOCK_CALL'))
    expect(writes.length).toBeLessThan(6)
    const [largest] = writes.sort((a, b) => b.before - a.before)
    expect(largest?.before).toBeGreaterThan(130)
    expect(largest?.beforeC2).toBeLessThan(1)
  })

  test('folded flows have 10.2 nodes on average, SD 9.8, as the thesis has it', () => {
    const [sizes] = foldedSizes(
      flows,
      isWrite.map(() => 0),
    ).objects() as Record<string, number>[]
    expect(Math.abs(Number(sizes?.['foldedMean']) - 10.2)).toBeLessThan(0.2)
    expect(Math.abs(Number(sizes?.['foldedSd']) - 9.77)).toBeLessThan(0.2)
  })
})
