import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { sqlAsCsv } from '../../../datasets/sql-parameters/sql-parameters.ts'
import { type Comparison, compare, explain, loadTraces } from '../../../src/index.ts'
import type { TraceSet } from '../../../src/traces/trace-set.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'

// Parameters as Spectroscope's programs kept them: an SQL dump beside the DOT file. The requests for
// at least 16 KB no longer find what they read in the cache; those for at most 12 KB do.

const FOLDER = 'oracles/spectroscope2013'

function parametersOf(dump: string) {
  return {
    name: 'parameters.csv',
    bytes: sqlAsCsv(gunzipSync(readFileSync(dump)).toString(), dump),
  }
}

function load(period: 'before' | 'after', { parameters }: { parameters: boolean }) {
  const file = (name: string) => sharedFile(`${FOLDER}/${name}`) as string
  return loadTraces(file(`${period}.dot.gz`), {
    name: period,
    parameters: parameters ? parametersOf(file(`${period}-parameters.sql.gz`)) : [],
  })
}

/** The name of the parameter, however hosts are labelled. */
const SIZE = 'NFS3_READ_CALL_TYPE DEFAULT · size'

describeWithShared('the low-level parameters of the authors’ input', () => {
  let before: TraceSet
  let after: TraceSet
  let comparison: Comparison
  /** The READ requests that moved to the disk path. */
  const read = () =>
    comparison.ranking.mutations.find(
      ({ category, kind }) =>
        kind === 'structural' && /NFS3_READ/.test(comparison.categories.structure(category).root),
    ) as Comparison['ranking']['mutations'][number]

  beforeAll(async () => {
    before = await load('before', { parameters: true })
    after = await load('after', { parameters: true })
    comparison = compare(before, after, { smPThreshold: 50, alternative: 'slower' })
  })

  test('belong to nodes without exception: 1,430 rows before, 2,340 after', () => {
    const noted = [before, after].map((set) => set.quality().issues.map(({ message }) => message))
    expect(noted).toEqual([
      [expect.stringMatching(/^2,795 of 4,225 nodes have no row among the parameters/)],
      [expect.stringMatching(/^2,970 of 5,310 nodes have no row among the parameters/)],
    ])
  })

  test('change neither categories nor ranking', async () => {
    const plain = compare(
      await load('before', { parameters: false }),
      await load('after', { parameters: false }),
      { smPThreshold: 50, alternative: 'slower' },
    )
    expect(comparison.ranking.table().objects()).toEqual(plain.ranking.table().objects())
  })

  test('at smPThreshold 50, say first that mutated READs have a size above 12,288', () => {
    const { paths, leftOut } = explain(comparison, read(), { sample: 'all' })
    expect(paths[0]).toMatchObject({
      question: 'what-differs',
      predicts: 'mutation',
      requests: 135,
      conditions: [{ kind: 'range', column: SIZE, above: 12_288 }],
      precision: 1,
      recall: 1,
      separation: 1,
    })
    expect(paths[1]).toMatchObject({
      predicts: 'precursor',
      requests: 350,
      conditions: [{ kind: 'range', column: SIZE, atMost: 12_288 }],
      precision: 1,
      recall: 1,
      separation: 1,
    })
    expect(leftOut).toContainEqual({
      column: 'NFS3_READ_CALL_TYPE DEFAULT · tid',
      reason: 'thread',
    })
  })

  test('say so of a sample, too, whatever its seed', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const [path] = explain(comparison, read(), { seed }).paths
      expect(path).toMatchObject({ conditions: [{ column: SIZE, above: 12_288 }], separation: 1 })
    }
  })

  test('say so with hosts left out of labels', () => {
    const [path] = explain(comparison.with({ omitHosts: true }), read()).paths
    expect(path).toMatchObject({ conditions: [{ column: SIZE, above: 12_288 }], separation: 1 })
  })
})
