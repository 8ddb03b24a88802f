import { expect, test } from 'vitest'
import { foldGraph } from '../../../src/flows/fold/fold-graph.ts'
import type { EdgeNote } from '../../../src/flows/fold/folded-graph.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'
import { expandGraph } from './expand-flow.ts'

type End = string | number

interface Oracle {
  labels: string[]
  edges: [number, number][]
  expected: {
    k: number
    labels: string[]
    ext: string[]
    /** Lane to lane: labels, offset, 'all'; to or from outside: node, label, 'in' or 'out', lanes. */
    Q: [End, End, number | 'in' | 'out', string][]
    /** Edges that touch no lane, by position among `ext`. */
    rest: [number, number][]
  }
}

describeWithShared('the quotient of a 320 KB write is that of the oracle', () => {
  const { labels, edges, expected } = sharedJson<Oracle>('oracles/collapse.json')
  const texts = [...new Set(labels)].sort()
  const input = {
    labels: Uint32Array.from(labels, (label) => texts.indexOf(label)),
    from: Uint32Array.from(edges, ([from]) => from),
    to: Uint32Array.from(edges, ([, to]) => to),
  }
  const { graph, steps, gaveUp } = foldGraph(input, {
    labelRank: Uint32Array.from(texts, (_, rank) => rank),
  })
  const textOf = (node: number) => texts[graph.labels[node] as number] as string
  const isInside = (node: number) => (graph.inside[node] as readonly number[]).length > 0

  test('one repetition, five times, and nothing else repeats', () => {
    expect(graph.repetitions).toEqual([{ times: expected.k, within: [] }])
    expect(steps).toHaveLength(1)
    expect(gaveUp).toBe(false)
  })

  test('eleven steps a lane and four outside', () => {
    const nodes = Array.from(graph.labels, (_, node) => node)
    expect(nodes.filter(isInside).map(textOf).sort()).toEqual(expected.labels)
    expect(nodes.filter((node) => !isInside(node)).map(textOf)).toEqual(expected.ext)
  })

  test('the edges, with offsets, and which lanes are entered and left', () => {
    const found = Array.from(graph.from, (from, edge) => {
      const ends = [textOf(from), textOf(graph.to[edge] as number)] as const
      return describeEdge(ends, graph.notes[edge] as readonly EdgeNote[], expected.ext)
    })
    const lane = ([from, to, kind, lanes]: Oracle['expected']['Q'][0]) => [from, to, kind, lanes]
    const wanted = [
      ...expected.Q.map(lane),
      ...expected.rest.map(([from, to]) => [from, to, 'outside', 'once']),
    ]
    const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort()
    expect(sorted(found)).toEqual(sorted(wanted))
  })

  test('unfolded it is as large as it was', () => {
    const { labels: nodes, from } = expandGraph(graph)
    expect([nodes.length, from.length]).toEqual([labels.length, edges.length])
  })
})

function describeEdge(
  [from, to]: readonly [string, string],
  [note]: readonly EdgeNote[],
  outside: readonly string[],
): (string | number)[] {
  if (note === undefined) return [outside.indexOf(from), outside.indexOf(to), 'outside', 'once']
  if (note.side === 'inside') return [from, to, note.offset, 'all']
  if (note.side === 'to') return [outside.indexOf(from), to, 'in', note.lanes]
  return [from, outside.indexOf(to), 'out', note.lanes]
}
