import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TIME } from '../../../src/core/quantity.ts'
import { type FlowDifference, moreWords } from '../../../src/explain/flow-pair/flow-comparison.ts'
import { coalesceFlow, focusGroups } from '../../../src/explain/flow-pair/flow-groups.ts'
import type { GraphSketch } from '../../make-traces.ts'
import { compareFlows, compareTexts, type FlowText, flow } from './fixture.ts'

const of = (before: string | FlowText, after: string | FlowText) =>
  compareTexts(before, after).ranked

/** Whole latencies, so that expected times are exact. */
const exact = (edges: string, latencyUs: Record<string, number> = {}): FlowText => {
  return { edges, latencyUs, spread: 0 }
}
const kinds = ({ differences }: ReturnType<typeof of>) =>
  differences.map(({ kind, changeUs }) => [kind, Math.round(changeUs)])

test('less than a nanosecond is no difference', () => {
  expect([0.0000444, -0.0009, 0.002].map((us) => moreWords(us, TIME))).toEqual([
    'as long as before',
    'as long as before',
    '0.002 µs longer',
  ])
})

test('the latency that changed most comes first, whatever its place', () => {
  const edges = 'A>B B>C C>D D>E'
  const ranked = of(
    { edges, spread: 0.01 },
    { edges, spread: 0.01, latencyUs: { 'A>B': 200, 'C>D': 400 } },
  )
  expect(ranked.differences.map(({ kind, nodes }) => [kind, nodes])).toEqual([
    ['latency', [2, 3]],
    ['latency', [0, 1]],
  ])
  expect(ranked.differences[0]?.text).toMatch(
    /^C → D takes (299|30\d) µs longer: 75 % of the slowdown; p < 1e-6$/,
  )
})

test('an inserted step has the time around it, less that of the edge it stands in', () => {
  const ranked = of(exact('A>B B>C'), exact('A>B B>X X>C', { 'B>X': 300, 'X>C': 50 }))
  expect(kinds(ranked)).toEqual([['added', 250]])
  expect(ranked.differences[0]).toMatchObject({ beforeUs: 100, afterUs: 350, share: 1 })
  expect(ranked.text()).toBe(
    'X is added, which adds 250 µs: 100 % of the slowdown\n'.replace(/^/, '1. ') +
      'Everything else, 1 edge, takes as long as before.\n' +
      'In all: 250 µs longer.',
  )
})

test('a removed step that took time is a change against a slower flow', () => {
  const ranked = of(exact('A>X X>B B>C', { 'A>X': 300 }), exact('A>B B>Y Y>C', { 'B>Y': 900 }))
  expect(kinds(ranked)).toEqual([
    ['added', 900],
    ['removed', -300],
  ])
  expect(ranked.differences[0]?.text).toBe(
    'Y is added, which adds 900 µs: more than the whole slowdown; all else takes 300 µs less',
  )
  expect(ranked.differences[1]?.text).toBe(
    'X is removed, which saves 300 µs, offsetting 50 % of the slowdown',
  )
})

test('a step between the neighbors of one that is gone is one difference with it', () => {
  const ranked = of(
    exact('A>X X>B B>C', { 'A>X': 300 }),
    exact('A>Y Y>Z Z>B B>C', { 'A>Y': 500, 'Y>Z': 50 }),
  )
  expect(kinds(ranked)).toEqual([['replaced', 250]])
  expect(ranked.differences[0]?.text).toBe(
    'Y, Z instead of X, which takes 250 µs longer: 100 % of the slowdown',
  )
})

describe('a call beside which others like it are made now', () => {
  const one = exact('A>B.1 B.1>C.1 C.1>D D>E', { 'A>B.1': 100 })
  const two = exact('A>B.1 B.1>C.1 C.1>D A>B.2 B.2>C.2 C.2>D D>E', { 'A>B.1': 150, 'A>B.2': 150 })
  const ranked = of(one, two)

  test('takes what its latency says, not a part of it', () => {
    const [changed] = ranked.differences.filter(({ kind }) => kind === 'latency')
    expect(changed).toMatchObject({ beforeUs: 100, afterUs: 150, changeUs: 50 })
  })

  test('leaves them what is waited for beyond', () => {
    expect(kinds(ranked)).toEqual([
      ['latency', 50],
      ['added', 0],
    ])
    expect(ranked.rest.changeUs).toBeCloseTo(0, 6)
  })
})

describe('branches that run in parallel', () => {
  /** A branch of its own calls between S and Z, of two edges and the way back. */
  const branch = (name: string, us: number, way = 'S') => [
    [`${way}>${name}`, us],
    [`${name}>${name}r`, 2 * us],
    [`${name}r>J`, us / 2],
  ]
  const flowOf = (branches: (string | number)[][][], spread = 0): FlowText => {
    const edges = [['R>S', 50], ...branches.flat(), ['J>Z', 70]] as [string, number][]
    const latencyUs = Object.fromEntries(edges)
    return { edges: Object.keys(latencyUs).join(' '), latencyUs, spread, requests: 80 }
  }
  /** A branch drawn several times, as parallel calls of one operation are. */
  const many = (label: string, count: number, us: number) =>
    Array.from({ length: count }, (_, i) =>
      branch(label, us).map(([edge, each]) => [
        String(edge).replaceAll(/([A-R]r?)(?=>|$)/g, (node) =>
          node === 'J' || node === 'S' ? node : `${node}.${i + 1}`,
        ),
        Number(each),
      ]),
    )
  const times = fc.integer({ min: 20, max: 900 })
  const copies = fc.integer({ min: 1, max: 4 })

  test('a branch in the place of another differs by its whole time, however many run beside it', () => {
    fc.assert(
      fc.property(times, times, copies, copies, (was, is, before, after) => {
        const { differences, rest } = of(
          flowOf(many('B', before, was)),
          flowOf(many('C', after, is)),
        )
        const [replaced, ...others] = differences
        expect(differences.reduce((total, { changeUs }) => total + changeUs, 0)).toBeCloseTo(
          3.5 * (is - was),
          6,
        )
        expect(rest.changeUs).toBeCloseTo(0, 6)
        if (before > 1 && after > 1) return
        if (is !== was) expect(replaced).toMatchObject({ kind: 'replaced', afterUs: 3.5 * is })
        for (const { changeUs } of others) expect(changeUs).toBeCloseTo(0, 6)
      }),
      { numRuns: 30 },
    )
  })

  test('a branch that is added beside another is what it adds to the critical path', () => {
    fc.assert(
      fc.property(times, times, (stays, comes) => {
        const ranked = of(
          flowOf([branch('B', stays)]),
          flowOf([branch('B', stays), branch('C', comes)]),
        )
        expect(kinds(ranked)).toEqual([['added', Math.round(3.5 * Math.max(0, comes - stays)) + 0]])
        const back = of(
          flowOf([branch('B', stays), branch('C', comes)]),
          flowOf([branch('B', stays)]),
        )
        expect(back.differences[0]?.changeUs).toBeCloseTo(-3.5 * Math.max(0, comes - stays), 6)
      }),
      { numRuns: 30 },
    )
  })

  test('boxes show the way through their steps, whatever runs beside them', () => {
    fc.assert(
      fc.property(times, times, copies, (was, is, after) => {
        const { differences } = compareTexts(
          flowOf(many('B', 1, was)),
          flowOf(many('C', after, is)),
        )
        const [gone, ...come] = [...differences].sort(
          (a, b) => Number(a.inAfter) - Number(b.inAfter),
        )
        expect(gone).toMatchObject({ kind: 'removed', afterUs: 0 })
        expect(gone?.beforeUs).toBeCloseTo(2 * was, 6)
        expect(come).toHaveLength(after)
        for (const { afterUs } of come) expect(afterUs).toBeCloseTo(2 * is, 6)
      }),
      { numRuns: 20 },
    )
  })
})

test('a mean that moves against its median says both', () => {
  const latencies = (us: number, rareUs: number) =>
    Array.from({ length: 40 }, (_, i) =>
      flow(exact('A>B B>C', { 'A>B': i < 4 ? rareUs : us + i })),
    ).map(([request]) => request as GraphSketch)
  const { ranked } = compareFlows(latencies(100, 9000), latencies(200, 500))
  expect(ranked.differences[0]?.what).toBe('A → B takes 760 µs less (its median 100 µs longer)')
})

describe('the same calls made otherwise', () => {
  const fork = exact('S>A S>B S>C A>J B>J C>J J>Z', { 'S>A': 300, 'S>B': 200, 'S>C': 400 })
  const chain = exact('S>A A>B B>C C>J J>Z', { 'S>A': 300, 'A>B': 200, 'B>C': 400 })

  test('one after the other are one difference with all the time that it costs', () => {
    const ranked = of(fork, chain)
    // Before, 400 and 100 µs of C are waited for; after, 300, 200, 400 and 100.
    expect(kinds(ranked)).toEqual([['order', 500]])
    expect(ranked.differences[0]?.text).toContain(
      'B now waits for A; before, both at the same time; ',
    )
    expect(ranked.rest.changeUs).toBeCloseTo(0, 6)
  })

  test('at the same time save as much', () => {
    const ranked = of(chain, fork)
    expect(kinds(ranked)).toEqual([['order', -500]])
    expect(ranked.differences[0]?.text).toContain('no longer waits for A: both at the same time')
  })

  test('in another order are one difference, though they are drawn twice', () => {
    const ranked = of(exact('S>A A>B B>J'), exact('S>B B>A A>J', { 'S>B': 300 }))
    expect(kinds(ranked)).toEqual([['order', 200]])
  })

  test('beside a branch that has nothing to do with it leave that to the rest', () => {
    const beside = ' S>K K>L L>Z'
    const ranked = of(
      { ...fork, edges: fork.edges + beside },
      { ...chain, edges: chain.edges + beside },
    )
    expect(kinds(ranked)).toEqual([['order', 500]])
    expect(ranked.rest.edges).toHaveLength(4)
  })
})

test('without a change there is no share, and nothing to rank', () => {
  const ranked = of(exact('A>B B>C'), exact('A>B B>C'))
  expect(ranked.differences).toEqual([])
  expect(ranked.rest).toMatchObject({ edges: [0, 1], changeUs: 0, share: null })
  expect(ranked.text()).toMatch(/^Nothing differs significantly\./)
  expect(ranked.table().numRows()).toBe(0)
})

test('a change that nothing waits for is last, and says so', () => {
  const edges = 'A>B A>C B>D C>D'
  const latencyUs = { 'A>B': 5_000, 'C>D': 100 }
  const ranked = of({ edges, latencyUs }, { edges, latencyUs: { ...latencyUs, 'A>C': 1_000 } })
  const [last] = ranked.differences.slice(-1)
  expect(last?.changeUs).toBe(0)
  expect(last?.text).toMatch(/which nothing waits for/)
})

/** Flows of few letters, edges leading from earlier to later ones; the last joins all ends. */
const letters = fc
  .shuffledSubarray([...'ABCDEFG'], { minLength: 2 })
  .chain((names) =>
    fc.tuple(
      fc.constant(names),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 900 })), {
        minLength: names.length,
        maxLength: names.length,
      }),
    ),
  )
  .map(([names, parents]): FlowText => {
    const from = ['S', ...names]
    const latencyUs: Record<string, number> = {}
    const left = new Set(from)
    names.forEach((name, i) => {
      const [at, us] = parents[i] as [number, number]
      const parent = from[at % (i + 1)] as string
      latencyUs[`${parent}>${name}`] = us
      left.delete(parent)
    })
    for (const end of left) latencyUs[`${end}>Z`] = 10
    return { edges: Object.keys(latencyUs).join(' '), latencyUs, requests: 12 }
  })

describe('the surroundings of a difference', () => {
  const chain = 'A>B B>C C>D D>E E>F F>G G>H H>I'
  const shown = (before: FlowText, after: FlowText, rank = 1) => {
    const flows = compareTexts(before, after)
    const groups = focusGroups(flows, flows.ranked.differences[rank - 1] as FlowDifference)
    return coalesceFlow(flows, { groups }).nodes.map(({ name }) => name)
  }

  test('are its steps and those next to them; all else is folded', () => {
    const slower = exact(chain, { 'E>F': 900, 'A>B': 300 })
    expect(shown(exact(chain), slower)).toEqual([
      '3 other steps',
      'D',
      'E',
      'F',
      'G',
      '2 other steps',
    ])
    expect(shown(exact(chain), slower, 2)).toEqual(['A', 'B', 'C', '6 other steps'])
  })

  test('fold a difference of many steps itself, and other differences with the rest', () => {
    const many = Array.from({ length: 20 }, (_, i) => `X${i}`)
    const inserted = ['D', ...many, 'E'].flatMap((name, i, all) =>
      i > 0 ? [`${all[i - 1]}>${name}`] : [],
    )
    const after = chain.replace('D>E', inserted.join(' ')).replace('G>H', 'G>Y Y>H')
    expect(shown(exact(chain), exact(after))).toEqual([
      '3 other steps',
      'D',
      '20 added steps',
      'E',
      '4 → 5 other steps, 1 new',
    ])
  })
})

test('whatever is folded around a difference, each step is drawn once and no cycle arises', () => {
  fc.assert(
    fc.property(letters, letters, (before, after) => {
      const flows = compareTexts(before, after)
      for (const difference of flows.ranked.differences) {
        const { nodes, edges } = coalesceFlow(flows, { groups: focusGroups(flows, difference) })
        expect(nodes.flatMap((node) => node.nodes).sort((a, b) => a - b)).toEqual(
          flows.nodes.map(({ id }) => id),
        )
        for (const { from, to } of edges) expect(from).toBeLessThan(to)
      }
    }),
    { numRuns: 30 },
  )
})

test('all differences and the rest have each edge once, and add up to the change', () => {
  fc.assert(
    fc.property(letters, letters, (before, after) => {
      const flows = compareTexts(before, after)
      const { differences, rest, totalUs } = flows.ranked
      const claimed = [...differences.flatMap(({ edges }) => edges), ...rest.edges]
      expect(claimed.sort((a, b) => a - b)).toEqual(flows.edges.map(({ id }) => id))
      const ofRest = rest.edges.reduce((total, id) => {
        const { before: was, after: is } = flows.edges[id] as (typeof flows.edges)[number]
        return total + (is?.criticalUs ?? 0) - (was?.criticalUs ?? 0)
      }, 0)
      expect(rest.changeUs).toBeCloseTo(ofRest, 6)
      const all = differences.reduce((total, { changeUs }) => total + changeUs, rest.changeUs)
      expect(all).toBeCloseTo(totalUs, 6)
      expect(totalUs).toBeCloseTo((flows.after.meanUs ?? 0) - (flows.before.meanUs ?? 0), 6)
      const sizes = differences.map(({ changeUs }) => Math.abs(changeUs))
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a))
    }),
    { numRuns: 60 },
  )
})
