import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { describeWithShared, sharedFile } from '../shared.ts'
import { everything, graphOf, readDot, smallGraph } from './read-dot.ts'

const HEADER = '# 1 R: 10 usecs RT: 0 usecs\n'

/** Reads one graph with these statements. */
async function readStatements(statements: string) {
  const traces = await readDot(`${HEADER}digraph G {\n${statements}\n}\n`)
  expect(traces.quality().issues).toEqual([])
  expect(traces.size).toBe(1)
  return traces
}

async function labelOf(quoted: string) {
  return graphOf(await readStatements(`a [label="${quoted}"]`)).labels[0]
}

async function latencyOf(label: string) {
  const traces = await readStatements(`a [label=A]\nb [label=B]\na -> b [label=${label}]`)
  return traces.latencyUs[0]
}

describe('a graph in Spectroscope’s DOT', () => {
  test('has an id, a response time, an arrival, nodes and edges with latencies', async () => {
    expect(graphOf(await readDot(smallGraph('7')))).toEqual({
      id: '7',
      startUs: 3.25,
      responseTimeUs: 10.5,
      labels: ['e1__t3__CALL DEFAULT', 'e1__t3__REPLY DEFAULT'],
      edges: [['e1__t3__CALL DEFAULT', 'e1__t3__REPLY DEFAULT', 10.5]],
    })
  })

  test('keeps forks and joins', async () => {
    const traces = await readStatements(`
      a [label=A] b [label=B] c [label=C] d [label=D]
      a -> b [label="R: 1 us"]
      a -> c [label="R: 2 us"]
      b -> d [label="R: 3 us"]
      c -> d [label="R: 4 us"]`)
    expect(graphOf(traces).edges).toEqual([
      ['A', 'B', 1],
      ['A', 'C', 2],
      ['B', 'D', 3],
      ['C', 'D', 4],
    ])
  })

  test('arrives at 0 when the header does not say when', async () => {
    const traces = await readDot('# 9 R: 4 usecs\ndigraph G { a [label=A] }')
    expect(graphOf(traces)).toMatchObject({ id: '9', startUs: 0, responseTimeUs: 4 })
  })

  test('may have exponents in its times', async () => {
    const traces = await readDot('# 9 R: 4.5e3 usecs RT: 1E-2 usecs\ndigraph G { a [label=A] }')
    expect(graphOf(traces)).toMatchObject({ startUs: 0.01, responseTimeUs: 4500 })
  })

  test.each(['7', '007', '0', '1.5', '10.', '1e5', '-3', '12345678901234567890', 'GET_7', 'größe'])(
    'may be called %s',
    async (id) => {
      const traces = await readDot(`# ${id} R: 4 usecs RT: 1 usecs\ndigraph G { a [label=A] }`)
      expect(traces.ids).toEqual([id])
    },
  )

  test('begins with the first node that nothing leads to', async () => {
    const traces = await readStatements(`
      b [label=B, size=2]
      a [label=A, size=1]
      a -> b [label="R: 1 us"]`)
    expect(graphOf(traces)).toMatchObject({ labels: ['A', 'B'], edges: [['A', 'B', 1]] })
    expect([0, 1].map((node) => traces.attributes?.get(node, 'size'))).toEqual([1, 2])
  })

  test('is of one shape however concurrent nodes were declared, each keeping what is its own', async () => {
    const [a, b, c, d] = ['A', 'B', 'C', 'D'].map(
      (label) => `${label} [label=${label} own=${label}]`,
    )
    const edges = `
      A -> B [label="R: 1 us"]
      B -> D [label="R: 2 us"]
      A -> C [label="R: 3 us"]
      C -> D [label="R: 4 us"]`
    const orders = [
      [a, b, c, d],
      [a, c, b, d],
      [c, a, d, b],
    ]
    const text = orders.map((nodes) => `${HEADER}digraph G {\n${nodes.join('\n')}${edges}\n}\n`)
    const traces = await readDot(text.join('\n'))
    expect(traces.shapes.size).toBe(1)
    for (const [trace] of orders.entries()) {
      const { labels } = graphOf(traces, trace)
      expect(labels).toEqual(['A', 'B', 'D', 'C'])
      expect(graphOf(traces, trace).edges.map(([, , us]) => us)).toEqual([1, 2, 3, 4])
      const own = [0, 1, 2, 3].map((node) => traces.attributes?.get(4 * trace + node, 'own'))
      expect(own).toEqual(labels)
    }
  })

  test('may have many nodes', async () => {
    const nodes = Array.from({ length: 3000 }, (_, i) => `n.${i} [label="L${i % 5}"]`)
    const edges = nodes.slice(1).map((_, i) => `n.${i} -> n.${i + 1} [label="R: ${i} us"]`)
    const { labels, edges: found } = graphOf(await readStatements([...nodes, ...edges].join('\n')))
    expect(labels).toHaveLength(3000)
    expect(found[2998]).toEqual(['L3', 'L4', 2998])
  })
})

describe('labels', () => {
  test.each([
    ['quotes, escaped', 'say \\"hi\\"', 'say "hi"'],
    ['backslashes, escaped', 'C:\\\\data', 'C:\\data'],
    ['an escaped backslash before an n', 'C:\\\\new', 'C:\\new'],
    ['braces and brackets', 'a } { ] [ b', 'a } { ] ['.concat(' b')],
    ['arrows, hashes, slashes and semicolons', '-> # // ; =', '-> # // ; ='],
    ['letters of any script', 'größe 尺寸 🚂', 'größe 尺寸 🚂'],
    ['what would be markup', '<b>&amp;</b>', '<b>&amp;</b>'],
    ['a semantic label behind a literal \\n', 'POINT\\nDEFAULT', 'POINT DEFAULT'],
    ['an empty semantic label', 'POINT\\n', 'POINT'],
  ])('may hold %s', async (_, quoted, expected) => {
    expect(await labelOf(quoted)).toBe(expected)
  })

  test('that differ only in escapes are different labels', async () => {
    const traces = await readStatements('a [label="x\\ny"] b [label="x\\\\ny"]')
    expect(graphOf(traces).labels).toEqual(['x y', 'x\\ny'])
  })

  test('need no quotes when they are names', async () => {
    expect(graphOf(await readStatements('a [label=e1__t3__CALL]')).labels).toEqual(['e1__t3__CALL'])
  })
})

describe('latencies', () => {
  test.each([
    ['"R: 4.381460 us"', 4.38146],
    ['"R: 0 us"', 0],
    ['"R: 0.000000 us"', 0],
    ['"R:12us"', 12],
    ['"R: 1.5e3 us"', 1500],
    ['"R: 2E-3 us"', 0.002],
    ['"R: 1e+2 us"', 100],
    ['"R: .5 us"', 0.5],
    ['"R: 5. us"', 5],
    ['"R: +7 us"', 7],
    ['"12.25"', 12.25],
    ['12.25', 12.25],
    ['"R: 123456789012.345678 us"', 123456789012.34567],
    ['"R: 0.1234567890123456789 us"', 0.12345678901234568],
  ])('%s is %d µs', async (label, expected) => {
    expect(await latencyOf(label)).toBe(expected)
  })
})

describe('any way of writing it', () => {
  const expected = [
    ['A', 'B', 1],
    ['B', 'C', 2],
  ]

  test.each([
    [
      'everything on one line',
      'a [label=A]; b [label=B]; c [label=C]; a->b [label=1]; b->c [label=2];',
    ],
    [
      'spaces and tabs anywhere',
      ' a\t[ label = "A" ] b [label="B"  ]\n\n\nc[label="C"]a  ->\tb[label=1]b->c[label=2]',
    ],
    [
      'edges before their nodes’ declarations',
      'a->b [label=1]\nb->c [label=2]\na [label=A]\nb [label=B]\nc [label=C]',
    ],
    [
      'quoted ids',
      '"a" [label=A]\nb [label=B]\n"c" [label=C]\na -> "b" [label=1]\n"b" -> c [label=2]',
    ],
    [
      'comments',
      '# } first\na [label=A] /* } \n */ // } second\nb [label=B]\n// third\nc [label=C]\na->b [label=1] # fourth\nb->c [label=2]',
    ],
    [
      'defaults and graph attributes',
      'rankdir=LR\ngraph [size="7,7"]\nnode [shape=box]\nEdge [color=red]\na [label=A]\nb [label=B]\nc [label=C]\na->b [label=1]\nb->c [label=2]',
    ],
    [
      'other attributes of edges',
      'a [label=A]\nb [label=B]\nc [label=C]\na->b [color=red, label=1]\nb->c [label=2, weight=-3]',
    ],
    [
      'Windows line ends',
      'a [label=A]\r\nb [label=B]\r\nc [label=C]\r\na->b [label=1]\r\nb->c [label=2]\r\n',
    ],
  ])('%s', async (_, statements) => {
    expect(graphOf(await readStatements(statements)).edges).toEqual(expected)
  })

  test('a chain of nodes gives each of its edges the latency', async () => {
    const traces = await readStatements(
      'a [label=A] b [label=B] c [label=C]\na -> b -> c [label="R: 3 us"]',
    )
    expect(graphOf(traces).edges).toEqual([
      ['A', 'B', 3],
      ['B', 'C', 3],
    ])
  })

  test('a graph without edges', async () => {
    expect(graphOf(await readStatements('only [label=A]'))).toMatchObject({
      labels: ['A'],
      edges: [],
    })
  })

  test('ids of any characters, as long as they are quoted', async () => {
    const traces = await readStatements('"a b" [label=A]\n"}" [label=B]\n"a b" -> "}" [label=1]')
    expect(graphOf(traces).edges).toEqual([['A', 'B', 1]])
  })

  test.each(['digraph {', 'strict digraph "a name" {', 'DIGRAPH G{', 'Digraph G\n{'])(
    'a graph that begins with %s',
    async (opening) => {
      const traces = await readDot(`${HEADER}${opening} a [label=A] }`)
      expect(everything(traces)).toMatchObject({ graphs: [{ labels: ['A'] }], issues: [] })
    },
  )

  test('no blank line, or several, or comments between graphs', async () => {
    const text = `${smallGraph('1')}${smallGraph('2')}\n\n\n# a comment\n${smallGraph('3')}# end\n/* the\nend */\n`
    const traces = await readDot(text)
    expect(traces.ids).toEqual(['1', '2', '3'])
    expect(traces.quality().issues).toEqual([])
  })

  test('no line end behind the last brace', async () => {
    expect((await readDot(smallGraph('1').trimEnd())).ids).toEqual(['1'])
  })

  test('an empty file', async () => {
    expect(everything(await readDot(''))).toMatchObject({ graphs: [], issues: [] })
  })
})

describe('low-level parameters', () => {
  test('are the other attributes of nodes: numbers, truth values or text', async () => {
    const traces = await readStatements(
      'a [label=A, size=4096, ratio=-0.5, hit=true, file="/tmp/x", empty=""]\nb [label=B, size="12"]',
    )
    expect([...(traces.attributes?.entries(0) ?? [])]).toEqual([
      ['size', 4096],
      ['ratio', -0.5],
      ['hit', true],
      ['file', '/tmp/x'],
      ['empty', ''],
    ])
    expect(traces.attributes?.get(1, 'size')).toBe(12)
    expect(traces.attributes?.get(1, 'hit')).toBeUndefined()
  })

  test('of later graphs belong to their own nodes', async () => {
    const one = (id: string, size: number) =>
      `# ${id} R: 1 usecs\ndigraph G { a [label=A, size=${size}] }\n`
    const traces = await readDot(one('1', 10) + one('2', 20))
    expect([0, 1].map((node) => traces.attributes?.get(node, 'size'))).toEqual([10, 20])
  })

  test('are absent when there are none', async () => {
    expect((await readDot(smallGraph('1'))).attributes).toBeNull()
  })
})

describeWithShared('the authors’ own example', () => {
  test('is read', async () => {
    const path = sharedFile('fixtures/graphviz-dot/spectroscope_readme_example.dot') as string
    const traces = await readDot(readFileSync(path, 'utf8'))
    expect(everything(traces)).toMatchObject({
      graphs: [
        {
          id: '1',
          startUs: 0,
          responseTimeUs: 4.38146,
          edges: [
            [
              'e10__t3__NFS3_NULL_CALL_TYPE DEFAULT',
              'e10__t3__NFS3_NULL_REPLY_TYPE DEFAULT',
              4.38146,
            ],
          ],
        },
      ],
      issues: [],
    })
  })
})
