import { expect, test } from 'vitest'
import { readTracebench } from '../../../datasets/tracebench/read-tracebench.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

describeWithShared('TraceBench, folded', () => {
  const load = (run: string) => readTracebench(`${sharedFile('data/tracebench-hdfs')}/${run}`)
  test.each([
    ['w_netdelay_all_10ms', 10],
    ['w_netdelay_all_20ms', 20],
  ])('%s: all large categories can be tested, and RPCs show the delay', async (run, ms) => {
    const options = { omitHosts: true, fold: 'log2' } as const
    const comparison = compare(await load('w_normal_a'), await load(run), options)
    const { categories, responseTime } = comparison
    const all = Array.from({ length: categories.size }, (_, category) => category)
    const testable = all.filter((category) => responseTime.test(category).testable)
    const requests = testable.map((id) => categories.count(id, 0) + categories.count(id, 1))
    const share = requests.reduce((sum, count) => sum + count, 0) / comparison.flows.size
    expect(share).toBeGreaterThan(0.9)
    const both = comparison.edges.edges
      .filter(
        ({ fromNode, toNode }) =>
          [fromNode, toNode].some(({ operation }) => operation === 'RPC:getFileInfo') &&
          [fromNode, toNode].some(({ service }) => service === 'Namenode'),
      )
      .reduce((sum, { shiftUs }) => sum + shiftUs, 0)
    console.info(
      `${run}: ${testable.length} of ${all.length} categories, RPC:getFileInfo ${both} µs`,
    )
    expect(both / 1000).toBeGreaterThan(0.9 * ms)
    expect(both / 1000).toBeLessThan(1.2 * ms)
  })
})
