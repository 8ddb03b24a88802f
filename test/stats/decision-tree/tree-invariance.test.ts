import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ClassificationNode,
  type ClassificationTreeOptions,
  growClassificationTree,
  growRegressionTree,
  type TreeColumn,
  type TreeNode,
  treePaths,
} from '../../../src/stats/index.ts'
import { permuteRows, type TreeData, treeData } from './random-tree-data.ts'

const CRITERIA: readonly ClassificationTreeOptions[] = [
  { criterion: 'gain-ratio' },
  { criterion: 'gain-ratio', c45Strict: true, prune: false },
  { criterion: 'gini', alpha: 0.5 },
  { criterion: 'gini', prune: false },
]
/** The same but for rounding: rows in another order add up to other last digits. */
function expectAlike(actual: unknown, expected: unknown): void {
  if (!isAlike(actual, expected)) expect(actual).toEqual(expected)
}

function isAlike(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.abs(one - other) <= 1e-7 * Math.max(1, Math.abs(one))
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other
  }
  const [entries, others] = [Object.entries(one), Object.entries(other)]
  const values = new Map(others)
  return (
    entries.length === others.length &&
    entries.every(([key, value]) => values.has(key) && isAlike(value, values.get(key)))
  )
}

function hasTies(node: TreeNode<object>): boolean {
  return node.kind === 'split' && (node.tied.length > 0 || node.children.some(hasTies))
}

function mirrored(node: ClassificationNode): ClassificationNode {
  const weights = [node.weights[1], node.weights[0]] as const
  const predicts = node.predicts === null ? null : node.predicts === 0 ? 1 : 0
  if (node.kind === 'leaf') return { ...node, weights, predicts }
  return { ...node, weights, predicts, children: node.children.map(mirrored) }
}

const shuffled = (data: TreeData) =>
  fc.shuffledSubarray(
    Array.from(data.labels, (_, row) => row),
    { minLength: data.labels.length },
  )

/** Declares what must not change a tree, each over `numRuns` random tables. */
function describeTreeInvariance(numRuns: number): void {
  // A counterexample is not made smaller: that takes minutes.
  const RUNS = { numRuns, endOnFailure: true }

  describe.each([{ missing: false }, { missing: true }])(
    'with missing values: $missing',
    (shape) => {
      const withOrder = treeData(shape).chain((data) => fc.tuple(fc.constant(data), shuffled(data)))

      describe.each(CRITERIA)('%o', (options) => {
        const grow = ({ columns, labels }: TreeData) =>
          growClassificationTree(columns, labels, options)

        test('rows in another order give the same tree', () => {
          const property = fc.property(withOrder, ([data, order]) => {
            expectAlike(grow(permuteRows(data, order)).root, grow(data).root)
          })
          fc.assert(property, RUNS)
        })

        test('columns in another order give the same tree where no columns tie', () => {
          const property = fc.property(treeData(shape), (data) => {
            const forwards = grow(data)
            const backwards = grow({ ...data, columns: data.columns.toReversed() })
            if (hasTies(forwards.root) || hasTies(backwards.root)) return
            expectAlike(backwards.root, forwards.root)
          })
          fc.assert(property, RUNS)
        })

        test('exchanging the two sides mirrors the tree', () => {
          const property = fc.property(treeData(shape), (data) => {
            const other = grow({ ...data, labels: data.labels.map((label) => 1 - label) })
            expectAlike(other.root, mirrored(grow(data).root))
          })
          fc.assert(property, RUNS)
        })

        test('renaming columns and levels changes names alone', () => {
          const property = fc.property(treeData(shape), (data) => {
            const tree = grow(data)
            const rename = (name: string) => `new ${name}`
            const columns = data.columns.map((column): TreeColumn => {
              const renamed = { ...column, name: rename(column.name) }
              if (renamed.kind === 'numeric') return renamed
              return { ...renamed, levels: renamed.levels.map(rename) }
            })
            const text = JSON.stringify(tree.root).replaceAll(
              /"(size|host|offset|cached)"/g,
              '"new $1"',
            )
            expect(JSON.stringify(grow({ ...data, columns }).root)).toBe(text)
          })
          fc.assert(property, RUNS)
        })

        test('leaves share out all rows, and each has a path', () => {
          const leavesOf = (node: ClassificationNode): ClassificationNode[] =>
            node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
          const property = fc.property(treeData(shape), (data) => {
            const tree = grow(data)
            const leaves = leavesOf(tree.root)
            const shared = leaves.reduce((sum, { weights }) => sum + weights[0] + weights[1], 0)
            expect(shared).toBeCloseTo(tree.root.weights[0] + tree.root.weights[1], 9)
            expect(treePaths(tree)).toHaveLength(leaves.length)
          })
          fc.assert(property, RUNS)
        })
      })

      describe('regression', () => {
        const options = { minLeaf: 3, alpha: 0.5 } as const
        const grow = ({ columns, target }: TreeData) => growRegressionTree(columns, target, options)

        test('rows in another order give the same tree', () => {
          const property = fc.property(withOrder, ([data, order]) => {
            expectAlike(grow(permuteRows(data, order)).root, grow(data).root)
          })
          fc.assert(property, RUNS)
        })

        test('turning the target upside down turns the means alone', () => {
          const property = fc.property(treeData(shape), (data) => {
            const turned = (node: object): object =>
              JSON.parse(JSON.stringify(node), (key, value) =>
                key === 'mean' ? 60 - value : value,
              )
            const other = grow({ ...data, target: data.target.map((value) => 60 - value) })
            expectAlike(turned(other.root), grow(data).root)
          })
          fc.assert(property, RUNS)
        })
      })
    },
  )
}

describe('of 12 random tables', () => describeTreeInvariance(12))

describe('of 100 random tables', { tags: 'full' }, () => describeTreeInvariance(100))
