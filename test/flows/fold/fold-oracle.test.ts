import { expect, test } from 'vitest'
import type { FoldedGraph } from '../../../src/flows/fold/fold-graph.ts'
import { foldGraph } from '../../../src/flows/fold/fold-graph.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'

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
  const graph = foldGraph(input, Uint32Array.from(texts.keys())) as FoldedGraph
  const textOf = (node: number) => texts[graph.labels[node] as number] as string
  const isInside = (node: number) => (graph.inside[node] ?? []).length > 0

  test('one repetition, five times, and nothing else repeats', () => {
    const repetitions = new Set(graph.inside.flat())
    expect([...repetitions]).toEqual([{ times: expected.k }])
  })

  test('eleven steps a lane and four outside', () => {
    const nodes = Array.from(graph.labels, (_, node) => node)
    expect(nodes.filter(isInside).map(textOf).sort()).toEqual(expected.labels)
    expect(nodes.filter((node) => !isInside(node)).map(textOf)).toEqual(expected.ext)
  })

  test('the edges, with offsets, and which lanes are entered and left', () => {
    const found = Array.from(graph.from, (from, edge) => {
      const ends = [textOf(from), textOf(graph.to[edge] as number)] as const
      return describeEdge(ends, graph.notes[edge] as string, expected.ext)
    })
    const lane = ([from, to, kind, lanes]: Oracle['expected']['Q'][0]) => [from, to, kind, lanes]
    const wanted = [
      ...expected.Q.map(lane),
      ...expected.rest.map(([from, to]) => [from, to, 'outside', 'once']),
    ]
    const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort()
    expect(sorted(found)).toEqual(sorted(wanted))
  })

  test('every node and edge that was recorded is in it', () => {
    expect([graph.nodeOf.length, graph.edgeOf.length]).toEqual([labels.length, edges.length])
    expect(new Set(graph.nodeOf).size).toBe(graph.labels.length)
    expect(new Set(graph.edgeOf).size).toBe(graph.from.length)
  })
})

function describeEdge(
  [from, to]: readonly [string, string],
  note: string,
  outside: readonly string[],
): (string | number)[] {
  const [side, lanes = 'all'] = note.replace(/, $/, '').split(' ')
  if (side === '') return [outside.indexOf(from), outside.indexOf(to), 'outside', 'once']
  if (side === 'to') return [outside.indexOf(from), to, 'in', lanes]
  if (side === 'from') return [from, outside.indexOf(to), 'out', lanes]
  return [from, to, Number(side), lanes]
}
