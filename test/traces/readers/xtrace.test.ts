import { describe, expect, test } from 'vitest'
import type { GraphTraces } from '../../../src/traces/graph-traces.ts'
import type { LoadOptions } from '../../../src/traces/load-options.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { parseXtraceMetadata } from '../../../src/traces/readers/xtrace.ts'

const TASK = '01020304'
const FIRST_LINE = 'X-Trace Report ver 1.0'

/** A report of operation `id` of `task`, with `lines` behind it. */
function report(id: string, time: string, lines: readonly string[] = [], task = TASK): string {
  return [FIRST_LINE, `X-Trace: 10${task}${id}`, `Timestamp: ${time}`, ...lines, ''].join('\n')
}

const at = (host: string, label: string, ...edges: readonly string[]) => [
  `Host: ${host}`,
  'Agent: Http',
  `Label: ${label}`,
  ...edges.map((edge) => `Edge: ${edge}`),
]

async function load(content: string, options: LoadOptions = {}): Promise<GraphTraces> {
  const set = await loadTraces({ name: 'reports', bytes: content }, options)
  if (set.kind !== 'graphs') throw new Error('not graphs')
  return set
}

/** `from -> to latency`, in the order of the edges of trace `i`. */
function edges(set: GraphTraces, i = 0): string[] {
  const shape = set.shapeOf[i] ?? 0
  const label = (node: number | undefined) =>
    set.labels[set.shapes.labels(shape)[node ?? 0] ?? 0] ?? ''
  return Array.from(
    set.shapes.from(shape),
    (from, edge) =>
      `${label(from)} -> ${label(set.shapes.to(shape)[edge])} ${set.latencyUs[(set.latencyOffsets[i] ?? 0) + edge]}`,
  )
}

// web  recv ──────┬───────────── join ── send
// db    └── query ┘ (and a second way over cache)
const FORK = [
  report('000000AA', '1195074602.513', [
    ...at('web', 'recv', '00000000'),
    'Size: 4096',
    'Retry: no',
  ]),
  report('000000BB', '1195074602.520', at('db', 'query', '000000AA')),
  report('000000CC', '1195074602.515', at('cache', 'get', '000000AA')),
  report('000000DD', '1195074602.530', at('web', 'join', '000000BB', '000000CC')),
].join('\n')

describe('reports', () => {
  test('become a graph with fork and join, whose latencies are differences of timestamps', async () => {
    const set = await load(FORK)
    expect(set.ids).toEqual([TASK])
    expect(edges(set)).toEqual([
      'web__Http__recv -> db__Http__query 7000',
      'web__Http__recv -> cache__Http__get 2000',
      'db__Http__query -> web__Http__join 10000',
      'cache__Http__get -> web__Http__join 15000',
    ])
    expect(Array.from(set.responseTimeUs)).toEqual([17000])
    expect([...set.quality().counts]).toEqual([])
  })

  test('may come in any order, interleaved, with CRLF and in any chunks', async () => {
    const reports = FORK.split(/(?=X-Trace Report)/)
    const shuffled = [3, 1, 0, 2].map((i) => reports[i] ?? '')
    const other = report('000000EE', '1195074603.000', at('web', 'other'), '0A0B0C0D')
    const set = await load(
      [shuffled[0], other, ...shuffled.slice(1)].join('\n').replaceAll('\n', '\r\n'),
    )
    expect(set.ids).toEqual([TASK, '0A0B0C0D'])
    expect(edges(set).toSorted()).toEqual(edges(await load(FORK)).toSorted())
    expect(Array.from(set.startUs)).toEqual([0, 487000])
    expect(
      Array.from(set.shapeOf, (shape) => set.labels[set.shapes.labels(shape)[0] ?? 0]),
    ).toEqual(['web__Http__recv', 'web__Http__other'])
  })

  test('keep their other keys as parameters', async () => {
    const { attributes } = await load(FORK)
    expect([...(attributes?.entries(0) ?? [])]).toEqual([
      ['Size', 4096],
      ['Retry', 'no'],
    ])
  })

  test('end with the last event on the host where the task began, as other clocks may differ', async () => {
    const late = report('000000EE', '1195078888.000', at('other', 'log', '000000AA'))
    expect(Array.from((await load(`${FORK}\n${late}`)).responseTimeUs)).toEqual([17000])
  })

  test('with an edge back in time take 0 for it and tell', async () => {
    const early = report('000000EE', '1195074602.500', at('db', 'write', '000000AA'))
    const set = await load(`${FORK}\n${early}`)
    expect(edges(set)[4]).toBe('web__Http__recv -> db__Http__write 0')
    expect(set.quality().issues[0]?.message).toBe(
      '1 edge back in time, by up to 13 ms, taken as 0: the clocks of hosts disagree',
    )
  })

  test('without host or agent are known by their label', async () => {
    const set = await load(
      [report('000000AA', '1.0', ['Label: a']), report('000000BB', '1.5', ['Edge: 000000AA'])].join(
        '\n',
      ),
    )
    expect(edges(set)).toEqual(['a -> event 500000'])
  })
})

describe('reports that cannot be used', () => {
  const cases: [string, string, string][] = [
    [
      'of another version',
      FORK.replace('ver 1.0', 'ver 2.0'),
      'reports:1 Its version is 2.0, and 1.0 is known',
    ],
    [
      'without metadata',
      `${FIRST_LINE}\nTimestamp: 1.0\n\n${FORK}`,
      `reports:1 A report's X-Trace metadata is "": it is not hexadecimal bytes`,
    ],
    [
      'without a time',
      `${report('000000EE', 'noon')}\n${FORK}`,
      'reports:1 A report has timestamp "noon", which is not a time',
    ],
    [
      'that are there twice',
      `${FORK}\n${report('000000AA', '9.0')}`,
      'reports:36 Operation 000000AA is reported twice; the later report is left out',
    ],
    [
      'whose father is not reported',
      `${FORK}\n${report('000000EE', '1195074602.6', at('web', 'x', '000000FF'))}`,
      'reports:36 An edge comes from operation 000000FF, which is not reported; it is left out',
    ],
    [
      'with a line that has no key',
      FORK.replace('Retry: no', 'nonsense'),
      'reports:9 The line "nonsense" of a report has no key; it is ignored',
    ],
  ]
  test.each(cases)('%s are counted, with their line', async (_, text, expected) => {
    const { issues } = (await load(text)).quality()
    expect(issues.map(({ place, message }) => `${place.file}:${place.line} ${message}`)).toContain(
      expected,
    )
  })

  test('in a circle leave their task out', async () => {
    const circle = [
      report('0000000A', '1.0', ['Edge: 0000000B'], '0A0B0C0D'),
      report('0000000B', '2.0', ['Edge: 0000000A'], '0A0B0C0D'),
    ]
    const set = await load([...circle, FORK].join('\n'))
    expect(set.ids).toEqual([TASK])
    expect(set.quality().skippedTraces).toBe(1)
  })

  test('stop the load with strict', async () => {
    await expect(load(report('0000000A', 'noon'), { strict: true })).rejects.toThrow(
      `reports:1, trace ${TASK}: A report has timestamp "noon", which is not a time. Correct the report`,
    )
  })

  test('that the end of the file cuts are told as such', async () => {
    const cut = report('000000EE', '1195074602.540').split('Timestamp')[0] as string
    const set = await load(`${FORK}\n${cut.trimEnd()}`)
    expect(set.quality().issues.map(({ code }) => code)).toEqual(['truncated-file'])
    const whole = await load(FORK.trimEnd())
    expect(whole.quality().issues).toEqual([])
  })

  test('one and all are an error that says the first', async () => {
    await expect(load(`${FIRST_LINE}\nX-Trace: zz\n`)).rejects.toThrow(
      /^reports: The file, read as xtrace, has no usable traces \(first problem: reports:1: A report's X-Trace metadata is "zz"/,
    )
  })
})

describe('metadata', () => {
  test('has ids of the lengths that its flags say', () => {
    expect(parseXtraceMetadata('000102030403030303')).toEqual({
      task: '01020304',
      operation: '03030303',
    })
    expect(parseXtraceMetadata('19aabbccddeeff0011aaaaaaaabbbbbbbb')).toEqual({
      task: 'AABBCCDDEEFF0011',
      operation: 'AAAAAAAABBBBBBBB',
    })
    expect(parseXtraceMetadata(`13${'11'.repeat(20)}22222222`)).toEqual({
      task: '11'.repeat(20),
      operation: '22222222',
    })
  })

  test('may have options, which are ignored', () => {
    expect(parseXtraceMetadata('14010203040303030304CE020102')).toEqual({
      task: '01020304',
      operation: '03030303',
    })
  })

  const wrong: [string, string, string][] = [
    ['a newer version', '200102030403030303', 'its version is 2'],
    [
      'a long operation id in version 0',
      '08010203040303030303030303',
      'version 0 has no long operation ids',
    ],
    ['too few bytes', '0001020304030303', 'it has 8 bytes and not the 9 its flags say'],
    ['a task id of zeros', '000000000003030303', 'its task id is zero'],
    ['half a byte', '00010203040303030', 'it is not hexadecimal bytes'],
  ]
  test.each(wrong)('with %s is refused', (_, text, reason) => {
    expect(parseXtraceMetadata(text)).toBe(reason)
  })
})
