import { describe, expect, test } from 'vitest'
import { addedErrors } from '../../../src/stats/decision-tree/grow-classification-tree.ts'
import {
  type ClassificationTreeOptions,
  growClassificationTree,
  type TreeColumn,
} from '../../../src/stats/index.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'
import { gainRatioScores } from './gain-ratio-scores.ts'
import { type Cell, categorical, numeric, wekaText } from './tree-columns.ts'

interface Score {
  type: 'num' | 'cat'
  rawGain?: number
  penalty?: number
  gain: number
  splitInfo?: number
  gainRatio: number | null
  threshold?: number | null
  tries?: number
  branches?: number
  admissible: boolean
}

interface Root {
  feature: string
  threshold?: number
  index?: number
}

interface DataSet {
  attrs: Record<string, 'num' | 'cat'>
  rows: Cell[][]
  c45_root_scores: Record<string, Score>
  c45_root: string | null
  relaxed_root: string | null
  relaxed_threshold?: number
  weka_j48_pruned: string[]
  weka_j48_unpruned: string[]
  sklearn_root_gini?: Root | null
  sklearn_root_entropy?: Root | null
  rpart_root?: Root | null
  rerun_weka?: { removed_first: string[]; removed_first_second: string[] }
}

interface Oracle {
  datasets: Record<string, DataSet>
  addErrs: { CF: number; table: { N: number; e: number; extra_quinlan: number }[] }
}

function read({ attrs, rows }: DataSet): { columns: TreeColumn[]; labels: Uint8Array } {
  const columns = Object.entries(attrs).map(([name, type], at) => {
    const cells = rows.map((row) => row[at] as Cell)
    return type === 'num'
      ? numeric(name, cells as (number | null)[])
      : categorical(name, cells as (string | null)[])
  })
  return { columns, labels: Uint8Array.from(rows, (row) => row.at(-1) as number) }
}

describeWithShared('decision trees against Weka, scikit-learn, rpart and Quinlan', () => {
  const { datasets, addErrs } = sharedJson<Oracle>('oracles/tree.json')
  const sets = Object.entries(datasets).map(([name, data]) => ({ name, data, ...read(data) }))
  const setOf = (wanted: string) => {
    const set = sets.find(({ name }) => name === wanted)
    if (set === undefined) throw new Error(`no data set ${wanted}`)
    return set
  }
  const rootOf = (name: string, options?: ClassificationTreeOptions) => {
    const { columns, labels } = setOf(name)
    const { root } = growClassificationTree(columns, labels, options)
    return root.kind === 'leaf' ? null : root
  }

  test('there are 14 data sets', () => {
    expect(sets).toHaveLength(14)
  })

  describe.each(sets)('$name', ({ data, columns, labels }) => {
    test.each(Object.entries(data.c45_root_scores))('%s is scored alike', (name, expected) => {
      const scores = gainRatioScores(columns, labels, { strict: true })
      const score = scores.find(({ column }) => column === name)
      expect(score?.admissible).toBe(expected.admissible)
      expect(score?.gain).toBeCloseTo(expected.gain, 8)
      expect(score?.rawGain).toBeCloseTo(expected.rawGain ?? expected.gain, 8)
      expect(score?.penalty).toBeCloseTo(expected.penalty ?? 0, 8)
      expect(score?.splitInfo).toBeCloseTo(expected.splitInfo ?? 0, 8)
      if (expected.gainRatio === null) expect(score?.gainRatio).toBeNaN()
      else expect(score?.gainRatio).toBeCloseTo(expected.gainRatio, 8)
      expect(score?.cuts).toBe(expected.tries ?? 0)
      if (expected.branches !== undefined) expect(score?.branches).toBe(expected.branches)
    })

    test('strict, the root is that of C4.5', () => {
      const { root } = growClassificationTree(columns, labels, { c45Strict: true })
      expect(root.kind === 'leaf' ? null : root.column).toBe(data.c45_root)
    })

    test('the root and its threshold are those of C4.5 with at least 2 rows a side', () => {
      const { root } = growClassificationTree(columns, labels)
      expect(root.kind === 'leaf' ? null : root.column).toBe(data.relaxed_root)
      if (data.relaxed_threshold === undefined || root.kind === 'leaf') return
      expect(root.test).toEqual({ kind: 'threshold', value: data.relaxed_threshold })
    })

    test('strict, the tree is that of Weka, pruned and unpruned', () => {
      const strict = { c45Strict: true }
      const pruned = growClassificationTree(columns, labels, strict)
      expect(wekaText(pruned)).toEqual(data.weka_j48_pruned)
      const unpruned = growClassificationTree(columns, labels, { ...strict, prune: false })
      expect(wekaText(unpruned)).toEqual(data.weka_j48_unpruned)
    })
  })

  test.each(sets.filter(({ name }) => name !== 'imbalanced'))(
    'not strict, the tree of $name is that of Weka as well',
    ({ data, columns, labels }) => {
      expect(wekaText(growClassificationTree(columns, labels))).toEqual(data.weka_j48_pruned)
    },
  )

  test('golf has Quinlan’s figures: gain .247, split information 1.577, ratio .156', () => {
    const { columns, labels } = setOf('golf')
    const [outlook] = gainRatioScores(columns, labels)
    expect(outlook?.gain).toBeCloseTo(0.247, 3)
    expect(outlook?.splitInfo).toBeCloseTo(1.577, 3)
    expect(outlook?.gainRatio).toBeCloseTo(0.156, 3)
  })

  test('with one outlook unknown they are .199, 1.809 and .110', () => {
    const { columns, labels } = setOf('golf-missing')
    const [outlook] = gainRatioScores(columns, labels)
    expect(outlook?.gain).toBeCloseTo(0.199, 3)
    expect(outlook?.splitInfo).toBeCloseTo(1.809, 3)
    expect(outlook?.gainRatio).toBeCloseTo(0.11, 3)
  })

  test('strict, 500 precursors hide where 20 mutations begin; not strict, they do not', () => {
    expect(rootOf('imbalanced', { c45Strict: true })?.test).toMatchObject({ value: 493 })
    expect(rootOf('imbalanced')?.test).toMatchObject({ value: 499 })
  })

  const COMPARED = [
    'rmw-count',
    'numeric-overlap',
    'and-two-level',
    'remove-root-rerun',
    'imbalanced',
  ]

  test.each(COMPARED)('the root of %s is that of scikit-learn and rpart', (name) => {
    const { data, columns } = setOf(name)
    for (const root of [rootOf(name), rootOf(name, { criterion: 'gini' })]) {
      if (root?.test.kind !== 'threshold') throw new Error('expected a threshold')
      const { value } = root.test
      const column = columns.find((each) => each.name === root.column)
      const values = column?.kind === 'numeric' ? column.values : new Float64Array(0)
      const next = values.filter((each) => each > value).reduce((a, b) => Math.min(a, b))
      const peers = [data.sklearn_root_gini, data.sklearn_root_entropy, data.rpart_root]
      for (const peer of peers) {
        const middle = Number(peer?.threshold ?? peer?.index)
        expect(root.column).toBe(peer?.feature)
        expect(value).toBeLessThanOrEqual(middle)
        expect(next).toBeGreaterThan(middle)
      }
    }
  })

  test('with the root taken out, first is followed by second, second by third', () => {
    const { data, columns, labels } = setOf('remove-root-rerun')
    const without = (names: string[]) => {
      const others = columns.filter(({ name }) => !names.includes(name))
      return wekaText(growClassificationTree(others, labels))
    }
    expect(without(['first'])).toEqual(data.rerun_weka?.removed_first)
    expect(without(['first', 'second'])).toEqual(data.rerun_weka?.removed_first_second)
    expect(without(['first', 'second', 'third'])).toEqual([': c0 (80.0/40.0)'])
  })

  test('an exclusive or is a leaf', () => {
    expect(rootOf('xor-balanced')).toBe(null)
    expect(rootOf('xor-balanced', { criterion: 'gini' })).toBe(null)
  })

  test('a column that names every request is left out', () => {
    expect(rootOf('unique-id')?.column).toBe('cache')
    expect(rootOf('unique-id', { criterion: 'gini' })?.column).toBe('cache')
  })

  test('the confidence of the oracle is 25 %', () => {
    expect(addErrs.CF).toBe(0.25)
  })

  test.each(addErrs.table)('$e errors of $N', ({ N, e, extra_quinlan }) => {
    expect(addedErrors(N, e)).toBeCloseTo(extra_quinlan, 12)
  })
})
