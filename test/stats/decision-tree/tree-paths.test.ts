import { expect, test } from 'vitest'
import {
  equalPartitions,
  growClassificationTree,
  growRegressionTree,
  treePaths,
} from '../../../src/stats/index.ts'
import { categorical, numeric } from './tree-columns.ts'

const counts = [1, 2, 2, 4096, 4096, 4096, 3000, 8192, 8192, 8192]
const labels = Uint8Array.of(0, 0, 0, 1, 1, 1, 1, 0, 0, 0)

test('two splits on one column are one condition: 2 < count <= 4096', () => {
  const paths = treePaths(growClassificationTree([numeric('count', counts)], labels))
  expect(paths).toHaveLength(3)
  expect(paths).toContainEqual([{ kind: 'range', column: 'count', above: 2, atMost: 4096 }])
})

test('a missing value puts a part of its row in each leaf', () => {
  const column = numeric('count', [1, 1, 1, 1, 9, 9, 9, 9, null])
  const { root } = growClassificationTree([column], Uint8Array.of(0, 0, 0, 0, 1, 1, 1, 1, 1))
  const leaves = root.kind === 'split' ? root.children : []
  expect(leaves.map(({ weights }) => weights)).toEqual([
    [4, 0.5],
    [0, 4.5],
  ])
})

test('a tree of one leaf has one path, without conditions', () => {
  expect(treePaths(growClassificationTree([], Uint8Array.of(0, 0, 1)))).toEqual([[]])
  const grown = growRegressionTree([], Float64Array.of(1, 5))
  expect(grown.root).toEqual({ kind: 'leaf', weight: 2, mean: 3, sd: 2 })
  expect(treePaths(grown)).toEqual([[]])
})

test('as many of both in leaf and tree predict nothing; no rows neither', () => {
  expect(growClassificationTree([], Uint8Array.of(0, 1)).root).toMatchObject({ predicts: null })
  expect(growClassificationTree([], new Uint8Array(0)).root).toMatchObject({ predicts: null })
})

test('as many of both in a leaf predict what is rarer in the tree', () => {
  const column = categorical('host', [...'aaaaaaaabb'])
  const tree = growClassificationTree([column], Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 1), {
    criterion: 'gini',
    prune: false,
    minLeaf: 2,
  })
  expect(tree.root).toMatchObject({ children: [{ predicts: 0 }, { predicts: 1, weights: [1, 1] }] })
})

test('a threshold is the largest value up to the middle that any row has', () => {
  // In the node where host is b, count jumps from 1 to 9; 4 is seen only on host a.
  const repeat = <T>(value: T, times: number) => new Array<T>(times).fill(value)
  const host = categorical('host', [...repeat('a', 12), ...repeat('b', 12)])
  const own = [...repeat(4, 2), ...repeat(9, 10), ...repeat(1, 4), ...repeat(9, 8)]
  const count = numeric('count', own)
  const which = Uint8Array.from([...repeat(0, 16), ...repeat(1, 8)])
  const { root } = growClassificationTree([host, count], which, { prune: false })
  expect(root).toMatchObject({ column: 'host' })
  expect(root.kind === 'split' ? root.children[1] : root).toMatchObject({
    column: 'count',
    test: { kind: 'threshold', value: 4 },
  })
})

test('small values are told apart unless C4.5 is to be followed strictly', () => {
  const column = numeric('share', [1e-6, 1e-6, 1e-6, 2e-6, 2e-6, 2e-6])
  const which = Uint8Array.of(0, 0, 0, 1, 1, 1)
  expect(growClassificationTree([column], which).root.kind).toBe('split')
  expect(growClassificationTree([column], which, { c45Strict: true }).root.kind).toBe('leaf')
})

test('columns that divide the rows alike are one group', () => {
  const size = numeric('size', [1, 2, 2, 3])
  const name = categorical('name', ['z', 'a', 'a', 'k'])
  const other = categorical('other', ['a', 'a', 'b', 'b'])
  const gap = numeric('gap', [null, 5, 5, 1])
  expect(equalPartitions([size, other, name, gap])).toEqual([['size', 'name', 'gap'], ['other']])
  expect(equalPartitions([])).toEqual([])
})

test('numbers without two the same are alike only in the same or the opposite order', () => {
  const one = numeric('one', [1, 5, 3, 9])
  const same = numeric('same', [10, 50, 30, 90])
  const opposite = numeric('opposite', [-1, -5, -3, -9])
  const another = numeric('another', [5, 1, 3, 9])
  expect(equalPartitions([one, same, opposite, another])).toEqual([
    ['one', 'same', 'opposite'],
    ['another'],
  ])
})

test('wrong columns, labels and options are named', () => {
  const x = numeric('x', [1, 2])
  const label = Uint8Array.of(0, 1)
  const grow = growClassificationTree
  expect(() => grow([x, x], label)).toThrow('Two columns are called "x". Give every column')
  expect(() => grow([x], Uint8Array.of(0))).toThrow(
    'columns["x"].values.length is 2. Give one a row, 1',
  )
  expect(() => grow([x], Uint8Array.of(0, 2))).toThrow('labels[1] is 2. Give 0 (precursor)')
  expect(() => grow([numeric('y', [1, 1 / 0])], label)).toThrow(
    'columns["y"].values[1] is Infinity',
  )
  const codes = Int32Array.of(0, 3)
  expect(() => grow([{ name: 'h', kind: 'categorical', codes, levels: ['a'] }], label)).toThrow(
    'columns["h"].codes[1] is 3. Give the position of one of its 1 levels, or -1 for missing',
  )
  expect(() => grow([x], label, { minLeaf: 0 })).toThrow('minLeaf is 0')
})

test('maxDepth 1 makes one split, 0 none', () => {
  const grow = (maxDepth: number) =>
    growClassificationTree([numeric('count', counts)], labels, { maxDepth, prune: false })
  expect(treePaths(grow(1))).toHaveLength(2)
  expect(treePaths(grow(0))).toHaveLength(1)
})
