import { expect, test } from 'vitest'
import { type HdfsRow, hdfsTable, THESIS_HDFS_TABLE } from '../../evaluation/hdfs-table.ts'

const rows = hdfsTable()
const pairs = rows.map((row, i) => [row.workload, row, THESIS_HDFS_TABLE[i] as HdfsRow] as const)
const within = (share: number, ours: number, theirs: number) =>
  expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(share * theirs)

test.each(pairs)(
  'Table 3.6: %s has flows as large as in the thesis, folded or not',
  (_, ...both) => {
    const [ours, theirs] = both
    within(0.02, ours.nodes.mean, theirs.nodes.mean)
    within(0.02, ours.writeNodes.mean, theirs.writeNodes.mean)
    within(0.02, ours.foldedNodes.mean, theirs.foldedNodes.mean)
    expect(ours.foldedWriteNodes).toMatchObject({ mean: 41, sd: 0 })
    within(0.2, ours.foldedNodes.sd, theirs.foldedNodes.sd)
  },
)

test.each(pairs)('Table 3.7: %s has too few requests in each category of writes', (_, ...both) => {
  const [ours, theirs] = both
  expect([ours.requests, ours.writes]).toEqual([theirs.requests, theirs.writes])
  within(0.1, ours.categories, theirs.categories)
  expect(Math.abs(ours.writeCategories - theirs.writeCategories)).toBeLessThanOrEqual(2)
})

test('without hosts, rand sort has about 16 categories of writes, and C² is about 0.45', () => {
  const [{ writeCategoriesWithoutHosts, c2WithoutHosts } = expect.fail()] = rows
  expect(writeCategoriesWithoutHosts).toBe(15)
  within(0.1, c2WithoutHosts ?? 0, 0.45)
})
