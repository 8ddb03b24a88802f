import { describe, expect, test } from 'vitest'
import { categorize } from '../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { everything, readDot, smallGraph } from './read-dot.ts'

/** A graph that begins on line 1 with these lines inside; its closing brace is the last line. */
function graph(...lines: string[]): string {
  return ['# bad R: 1 usecs RT: 0 usecs', 'digraph G {', ...lines, '}', ''].join('\n')
}

const NODES = ['a [label=A]', 'b [label=B]']
const TEXTS: [problem: string, text: string, code: string, line: number, message: string][] = [
  [
    'a node that is used but never declared',
    graph('a [label=A]', 'a -> b [label=1]'),
    ...(['undeclared-node', 5, 'Node b is used in an edge but never declared'] as const),
  ],
  [
    'a cycle',
    graph(...NODES, 'a -> b [label=1]', 'b -> a [label=1]'),
    ...(['cyclic-graph', 7, 'The edges lead back to the same node'] as const),
  ],
  [
    'a node that leads to itself',
    graph('a [label=A]', 'a -> a [label=1]'),
    ...(['cyclic-graph', 5, 'The edges lead back to the same node'] as const),
  ],
  [
    'a negative latency',
    graph(...NODES, 'a -> b [label="R: -3.5 us"]'),
    ...(['negative-latency', 5, 'Edge a -> b has latency -3.5 µs'] as const),
  ],
  [
    'an infinite latency',
    graph(...NODES, 'a -> b [label="R: 1e999 us"]'),
    ...(['infinite-latency', 5, 'Edge a -> b has latency Infinity µs'] as const),
  ],
  [
    'an edge without attributes',
    graph(...NODES, 'a -> b'),
    ...(['missing-latency', 5, 'Edge a -> b has no latency'] as const),
  ],
  [
    'a latency that is no number',
    graph(...NODES, 'a -> b [label="R: NaN us"]'),
    ...(['missing-latency', 5, 'Edge a -> b has no latency'] as const),
  ],
  [
    'a node declared twice',
    graph(...NODES, 'a [label=A]'),
    ...(['duplicate-node', 5, 'Node a is declared twice'] as const),
  ],
  [
    'a node without a label',
    graph('a [size=3]'),
    ...(['missing-label', 3, 'Node a has no label'] as const),
  ],
  ['a graph without nodes', graph(), ...(['empty-graph', 3, 'The graph has no nodes'] as const)],
  [
    'an undirected edge',
    graph(...NODES, 'a -- b [label=1]'),
    ...(['malformed-graph', 5, 'Found "-- b [label=1]" where `->` should be'] as const),
  ],
  [
    'an attribute without a value',
    graph('a [label]'),
    ...(['malformed-graph', 3, 'Found "]" where `=` should be'] as const),
  ],
  [
    'something that is no statement',
    graph('a [label=A]', '*** lost 3 records ***'),
    ...(['malformed-graph', 4, 'Found "*** lost 3 records *" where a name should be'] as const),
  ],
]

const NO_HEADER =
  'A graph has no line `# id R: <response time> usecs RT: <arrival> usecs` before it'

describe('a graph that cannot be used', () => {
  test.each(TEXTS)('%s is left out, with its line', async (_, text, code, line, message) => {
    const traces = await readDot(text)
    expect(traces.size).toBe(0)
    expect(traces.quality().issues).toEqual([
      {
        code,
        effect: 'trace skipped',
        message,
        place: { file: 'traces.dot', line, trace: 'bad' },
      },
    ])
  })

  test.each(TEXTS)('%s between good ones does no harm to them', async (_, text, code, line) => {
    const traces = await readDot(smallGraph('1') + text + smallGraph('2'))
    expect(traces.ids).toEqual(['1', '2'])
    expect([...traces.quality().counts]).toEqual([[code, 1]])
    expect(traces.quality().skippedTraces).toBe(1)
    expect(traces.quality().issues[0]?.place).toMatchObject({ line: line + 6, trace: 'bad' })
  })

  test.each(TEXTS)(
    '%s stops a strict load, with a next step',
    async (_, text, _code, line, message) => {
      await expect(readDot(smallGraph('1') + text, { strict: true })).rejects.toThrow(
        `traces.dot:${line + 6}, trace bad: ${message}. ` +
          'Correct the graph, or load without `strict` to leave it out',
      )
    },
  )

  test.each([
    ['no header', 'digraph G {\na [label=A]\n}\n', 1],
    ['no response time', '# 5\ndigraph G {\na [label=A]\n}\n', 2],
    ['a negative response time', '# 5 R: -1 usecs\ndigraph G {\na [label=A]\n}\n', 2],
    ['a response time that is no number', '# 5 R: soon usecs\ndigraph G {\na [label=A]\n}\n', 2],
    ['an infinite response time', '# 5 R: Infinity usecs\ndigraph G {\na [label=A]\n}\n', 2],
  ])('%s is named where the graph begins', async (_, text, line) => {
    const traces = await readDot(`${smallGraph('1')}\n${text}\n${smallGraph('2')}`)
    expect(traces.ids).toEqual(['1', '2'])
    expect(traces.quality().issues).toMatchObject([
      { code: 'missing-header', message: NO_HEADER, place: { line: line + 7 } },
    ])
  })
})

describe('a truncated graph', () => {
  const cut = (lines: number) => smallGraph('cut').split('\n').slice(0, lines).join('\n')

  test.each([2, 3, 4, 5])('after its line %d, before another graph', async (lines) => {
    const traces = await readDot(`${smallGraph('1')}${cut(lines)}\n${smallGraph('2')}`)
    expect(traces.ids).toEqual(['1', '2'])
    expect(traces.quality().issues).toMatchObject([
      { code: 'truncated-graph', place: { trace: 'cut' } },
    ])
  })

  test.each([1, 2, 3, 4, 5])('after its line %d, at the end of the file', async (lines) => {
    const traces = await readDot(`${smallGraph('1')}${cut(lines)}`)
    expect(traces.ids).toEqual(['1'])
    expect(traces.quality().issues).toMatchObject([
      {
        code: 'truncated-file',
        message: 'The file ends in the middle of a graph',
        place: { file: 'traces.dot', line: 7, trace: 'cut' },
      },
    ])
  })

  test.each([11, 15, 30, 60, 100, 140])(
    'after its byte %d, at the end of the file',
    async (bytes) => {
      const traces = await readDot(`${smallGraph('1')}${smallGraph('cut').slice(0, bytes)}`)
      expect(traces.ids).toEqual(['1'])
      expect(traces.quality()).toMatchObject({ skippedTraces: 1 })
    },
  )

  test('inside a label, before another graph', async () => {
    const torn = '# cut R: 1 usecs\ndigraph G {\na [label="A\n'
    const traces = await readDot(`${smallGraph('1')}${torn}${smallGraph('2')}${smallGraph('3')}`)
    expect(traces.ids.slice(0, 1)).toEqual(['1'])
    expect(traces.ids.at(-1)).toBe('3')
    expect(traces.quality().skippedTraces).toBeGreaterThan(0)
  })
})

describe('what stands around graphs', () => {
  test('a file that ends in a banner of hashes and text does not hang the reader', async () => {
    const traces = await readDot(`${smallGraph('1')}${'#'.repeat(5000)}\nlost`)
    expect(traces.ids).toEqual(['1'])
    expect(traces.quality().skippedTraces).toBe(1)
  })

  test('a cyclic graph that was left out does not stop the analysis of the others', async () => {
    const cycle = graph(...NODES, 'a -> b [label=1]', 'b -> a [label=1]')
    const traces = await readDot(cycle + smallGraph('1'))
    const categories = categorize(buildFlows([traces, traces]))
    expect(categories.size).toBe(1)
  })
})

describe('wherever the file is cut into chunks', () => {
  const awkward = [
    smallGraph('1'),
    '# 2 R: 5 usecs\n  digraph "G" { // } # }\r\n"a}" [label="x } \\" é\\nDEFAULT", size=1e3]\n',
    'b [label="→"] "a}" -> b [label="R: 1.5e-1 us"] }',
    graph('a [label="} {"]', 'a -> b [label="}"] /* } */', 'c [label="}"]'),
    graph('a [label=A]', 'a [label="}"]', 'b [label="}"]'),
    smallGraph('3').replace('}\n', ''),
    smallGraph('4'),
    'digraph G { a [label=A] }\n',
    graph(...NODES, 'a -> b'),
    'digraph G { a [label=A] }\n',
    smallGraph('5').replace('}\n', ''),
  ].join('\n')

  test('the whole reads like this', async () => {
    const traces = await readDot(awkward)
    expect(traces.ids).toEqual(['1', '2', '4'])
    expect(
      traces.quality().issues.map(({ code, place }) => [code, place.line, place.trace]),
    ).toEqual([
      ['missing-latency', 16, 'bad'],
      ['duplicate-node', 23, 'bad'],
      ['truncated-graph', 34, '3'],
      ['missing-header', 40, undefined],
      ['missing-latency', 46, 'bad'],
      ['missing-header', 49, undefined],
      ['truncated-file', 51, '5'],
    ])
  })

  test('it reads the same in chunks of 1 to 64 bytes', async () => {
    const whole = everything(await readDot(awkward))
    for (let chunkBytes = 1; chunkBytes <= 64; chunkBytes++) {
      expect(everything(await readDot(awkward, { chunkBytes })), `${chunkBytes}`).toEqual(whole)
    }
  })

  test('it reads the same cut in two at any byte', { tags: 'full' }, async () => {
    const whole = everything(await readDot(awkward))
    const { length } = new TextEncoder().encode(awkward)
    for (let chunkBytes = 1; chunkBytes < length; chunkBytes++) {
      expect(everything(await readDot(awkward, { chunkBytes })), `${chunkBytes}`).toEqual(whole)
    }
  })
})
