import { expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { findCallingContexts } from '../../src/explain/calling-contexts/find-calling-contexts.ts'
import { explain } from '../../src/explain/parameters/explain.ts'
import { findVariance } from '../../src/explain/variance/find-variance.ts'
import { randomSource } from '../../src/stats/random.ts'
import { weighedSpans } from '../make-traces.ts'

interface Request {
  readonly weight: number
  /** A few are far out. */
  readonly timeUs: number
  readonly disk: string
  readonly size: number
  /** Few take another way. */
  readonly isRare: boolean
}

function requests(seed: number, isAfter: boolean): Request[] {
  const random = randomSource(seed)
  return Array.from({ length: 120 }, (_, i) => {
    const isBusy = random.next() < (isAfter ? 0.5 : 0.2)
    return {
      weight: 1 + random.integer(5),
      timeUs: 1000 + random.integer(200) + (isBusy ? 700 : 0) + (i < 3 ? 90_000 : 0),
      disk: isBusy ? 'busy' : 'idle',
      size: random.integer(40) + (isBusy ? 20 : 0),
      isRare: i === 7 || i === 77,
    }
  })
}

function period(all: readonly Request[], isRepeated: boolean, fromUs: number) {
  return weighedSpans(all, { isRepeated, fromUs }, ({ timeUs, disk, size, isRare }, root) => {
    const { trace, startUs } = root
    const read = { trace, parent: trace, startUs: startUs + 100, endUs: startUs + timeUs }
    return [
      { ...root, endUs: startUs + timeUs + 50 },
      { ...read, id: `${trace} read`, service: 'db', attributes: { disk, size } },
      ...(isRare ? [{ ...read, id: `${trace} log`, service: 'log' }] : []),
    ]
  })
}

const SEEDS = [1, 2, 3]

function compared(seed: number, isRepeated: boolean) {
  return compare(
    period(requests(seed, false), isRepeated, 0),
    period(requests(seed + 50, true), isRepeated, 1e9),
    { counts: isRepeated ? 'raw' : 'weighted' },
  )
}

const rounded = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(9)) : value

/** Rows without what tells how sure they are, and which traces they are of. */
function amounts(rows: readonly object[], ...left: string[]) {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !left.includes(name))
        .map(([name, value]) => [name, rounded(value)]),
    ),
  )
}

test.each(SEEDS)(
  'contexts, categories and variance count weights as repetitions (seed %i)',
  (seed) => {
    const [weighted, repeated] = [false, true].map((isRepeated) => compared(seed, isRepeated)) as [
      ReturnType<typeof compared>,
      ReturnType<typeof compared>,
    ]
    const told = (one: typeof weighted) => {
      const contexts = findCallingContexts(one.flows)
      const variance = findVariance(one, { large: 0 })
      const first = variance.category(0, { period: 'after' })
      return [
        contexts.requests,
        amounts(contexts.table().objects()),
        amounts(one.categories.table().objects()),
        amounts(one.categories.sizes({ large: 0 }).objects()),
        amounts(variance.table().objects()),
        amounts(first.table().objects()),
      ]
    }
    expect(told(weighted)).toEqual(told(repeated))
    const merged = (one: typeof weighted) =>
      amounts(findVariance(one, { large: 0 }).merged, 'share', 'faster', 'slower')
    for (const one of merged(weighted)) expect(merged(repeated)).toContainEqual(one)
  },
)

test.each(SEEDS)('anomalies count weights as repetitions (seed %i)', (seed) => {
  const told = (isRepeated: boolean) =>
    findVariance(compared(seed, isRepeated), { large: 10 })
      .anomalies()
      .anomalies.map(({ explanation: _, exemplars: __, members: ___, edges, ...own }) => ({
        ...amounts([own])[0],
        // Shares of 0 are off by rounding.
        edges: amounts(edges.filter(({ share }) => share > 1e-9)),
      }))
  expect(told(false)).toEqual(told(true))
  expect(told(false).length).toBeGreaterThan(0)
})

test.each(SEEDS)(
  'explanations count weights as repetitions, and are less sure (seed %i)',
  (seed) => {
    const explained = [false, true].map((isRepeated) =>
      explain(compared(seed, isRepeated), { category: 0 }, { sample: 'all' }),
    )
    const [weighted = [], repeated = []] = explained.map(({ differences }) =>
      differences.toSorted((a, b) => (a.column < b.column ? -1 : 1)),
    )
    const told = (all: typeof weighted) =>
      all.map(({ column, before, after, effect }) => ({
        column,
        before,
        after,
        effect: rounded(effect),
      }))
    expect(told(weighted)).toEqual(told(repeated))
    weighted.forEach(({ p }, i) => {
      expect(p).toBeGreaterThanOrEqual(repeated[i]?.p as number)
    })
    // Of more requests, trees would go on to divide by size, too.
    const paths = explained.map((one) =>
      one
        .without('db call · size')
        .paths.map(({ conditions, question, predicts, requests, times, precision, recall }) => ({
          conditions,
          question,
          predicts,
          ...amounts([{ requests, precision, recall, ...times }])[0],
        })),
    )
    expect(paths[0]).toEqual(paths[1])
    expect(paths[0]?.length).toBeGreaterThan(0)
  },
)
