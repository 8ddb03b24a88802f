import { describe, expect, test } from 'vitest'
import { hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import type { FoldedGraph } from '../../../src/flows/fold/fold-graph.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { chain, edgesOf, fan, folded, labelsOf, recordedSamples } from './fold-fixture.ts'

describe('a loop', () => {
  const flows = folded([chain('call', 'a', 'b', 'a', 'b', 'a', 'b', 'reply')])

  test('is one round, and the root says how many', () => {
    expect(labelsOf(flows)).toEqual(['call ×3', 'a', 'b', 'reply'])
    expect(edgesOf(flows)).toEqual(['0-1', '1-2', '2-3'])
  })

  test('keeps what leads from round to round as a loop that is no edge of the shape', () => {
    const { from, to, loops } = flows.folded(0) as FoldedGraph
    expect(Array.from(loops, (isLoop, edge) => [from[edge], to[edge], isLoop])).toEqual([
      [0, 1, 0],
      [1, 2, 0],
      [2, 3, 0],
      [2, 1, 1],
    ])
  })

  test('has the time of all rounds on its edges, the way back with the step it leads to', () => {
    const timed = {
      ...chain('call', 'a', 'b', 'a', 'b', 'reply'),
      latencyUs: [1, 20, 300, 4000, 5],
    }
    const [request] = [folded([timed])]
    expect(Array.from(request.latencies(0))).toEqual([301, 4020, 5])
    expect([0, 1, 2, 3].map((edge) => [...recordedSamples(request, 0, edge)])).toEqual([
      [1],
      [20, 4000],
      [5],
      [300],
    ])
  })

  test('may begin with the root', () => {
    expect(labelsOf(folded([chain('a', 'b', 'a', 'b', 'reply')]))).toEqual(['a ×2', 'b', 'reply'])
  })

  test('may have the same label more than once in a round', () => {
    const rounds = ['a', 'b', 'a', 'c', 'a', 'b', 'a', 'c', 'a', 'b', 'a', 'c']
    expect(labelsOf(folded([chain('call', ...rounds, 'reply')]))).toEqual([
      'call ×3',
      'a',
      'b',
      'a',
      'c',
      'reply',
    ])
  })

  test('within a loop is folded, too, outer rounds named first', () => {
    const round = ['open', 'read', 'read', 'read', 'read', 'close']
    const nested = folded([chain('call', ...round, ...round, 'reply')])
    expect(labelsOf(nested)).toEqual(['call ×2 ×4', 'open', 'read', 'close', 'reply'])
  })

  test('of rounds of different lengths is folded as far as rounds are alike', () => {
    const flows = folded([chain('call', 'open', 'read', 'read', 'open', 'read', 'read', 'read')])
    expect(labelsOf(flows)).toEqual(['call ×2 ×2', 'open', 'read', 'read'])
  })
})

describe('equal branches', () => {
  test('are one, with the times of the one that was waited for', () => {
    const flows = folded([fan(3, [10, 5, 30, 40, 20, 8])])
    expect(labelsOf(flows)).toEqual(['call ×3', 'disk', 'reply'])
    expect(Array.from(flows.latencies(0))).toEqual([30, 40])
    expect(Array.from(recordedSamples(flows, 0, 0))).toEqual([10, 30, 20])
  })

  test('stay apart where what follows them differs', () => {
    const uneven: GraphSketch = {
      labels: ['call', 'disk', 'disk', 'check', 'reply'],
      edges: [
        [0, 1],
        [0, 2],
        [2, 3],
        [1, 4],
        [3, 4],
      ],
    }
    expect(labelsOf(folded([uneven]))).toEqual(uneven.labels)
  })
})

describe('two steps that happen to have one label', () => {
  test('are no repetition when they are not neighbors', () => {
    const labels = ['call', 'check', 'disk', 'check', 'reply']
    expect(labelsOf(folded([chain(...labels)]))).toEqual(labels)
  })
})

describe('what tells structures apart', () => {
  test('two ways from round to round are two categories, though both are ×2 with the same steps', () => {
    const lanes = (handOver: readonly [number, number]): GraphSketch => ({
      labels: ['call', 'send', 'write', 'send', 'write', 'reply'],
      edges: [[0, 1], [0, 3], [1, 2], [3, 4], [2, 5], [4, 5], handOver],
    })
    const flows = folded([lanes([1, 3]), lanes([2, 4]), lanes([2, 4])])
    expect(edgesOf(flows, 0)).toEqual(edgesOf(flows, 1))
    expect(labelsOf(flows, 0)[0]).toMatch(/^call ×2 #\w+$/)
    expect(Array.from(categorize(flows).categoryOf)).toEqual([0, 1, 1])
  })

  test('with log2, sizes from one power of two to the next are one category', () => {
    const flows = folded(
      [2, 3, 4, 7, 8].map((count) => fan(count, Array(2 * count).fill(1))),
      { log2: true },
    )
    expect(flows.ids.map((_, request) => labelsOf(flows, request)[0])).toEqual([
      'call ×2–3',
      'call ×2–3',
      'call ×4–7',
      'call ×4–7',
      'call ×8–15',
    ])
    expect(Array.from(categorize(flows).categoryOf)).toEqual([0, 0, 1, 1, 2])
  })

  test('a parameter of the root can say the size', () => {
    const flows = buildFlows(hdfsTraces({ writes: 2, portions: 5 }))
    const sized = foldFlows(flows, { sizeAttribute: 'size' })
    expect(labelsOf(sized)[0]).toMatch(/NEW_BLOCK_CALL size=320KB$/)
    const plain = foldFlows(flows, { sizeAttribute: 'size', sizeUnit: 'none', log2: true })
    expect(labelsOf(plain)[0]).toMatch(/NEW_BLOCK_CALL size=262144–524288$/)
    expect(labelsOf(foldFlows(flows, { sizeAttribute: 'bytes' }))[0]).toMatch(/ ×5$/)
  })

  test('rounds on different hosts are one loop without hosts', () => {
    const rounds = chain('m1__t__CALL', 'm1__t__READ', 'm2__t__READ', 'm3__t__READ')
    expect(labelsOf(folded([rounds]))).toHaveLength(4)
    expect(labelsOf(folded([rounds], { omitHosts: true }))).toEqual(['CALL ×3', 'READ'])
  })
})

describe('wrong options', () => {
  const flows = buildFlows(makeGraphs([chain('call', 'reply')]))
  const wrong: [string, object, string][] = [
    ['a misspelt name', { omitHost: true }, 'There is no option omitHost.'],
    [
      'an unknown unit',
      { sizeUnit: 'miles' },
      "Option sizeUnit is \"miles\". Give 'bytes' or 'none'.",
    ],
    ['a parameter that is no name', { sizeAttribute: 4 }, 'Option sizeAttribute is 4.'],
  ]
  test.each(wrong)('%s', (_, options, message) => {
    expect(() => foldFlows(flows, options)).toThrow(message)
  })
})

test('flows without repetitions, and no flows at all, stay as they are', () => {
  const flows = folded([chain('call', 'a', 'reply')])
  expect(labelsOf(flows)).toEqual(['call', 'a', 'reply'])
  expect(flows.folded(0)).toBeNull()
  expect(edgesOf(flows)).toEqual(['0-1', '1-2'])
  expect(folded([]).size).toBe(0)
})

test('a loop of 15,000 rounds overflows no stack, nor does one round of 15,000 steps, twice', () => {
  const rounds = folded([chain('call', ...Array(15_000).fill('disk'), 'reply')])
  expect(labelsOf(rounds)).toEqual(['call ×15000', 'disk', 'reply'])
  const steps = Array.from({ length: 15_000 }, (_, i) => `step ${i}`)
  const long = folded([chain('call', ...steps, ...steps, 'reply')])
  expect(labelsOf(long)).toHaveLength(15_002)
})
