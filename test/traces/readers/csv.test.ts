import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CsvRows } from '../../../src/traces/readers/csv-rows.ts'
import { SPAN_FORMATS, type SpanFormat } from '../../../src/traces/readers/span-formats.ts'
import { readingOf, spansReader } from '../../../src/traces/readers/span-records.ts'
import { issueCounts, plainSpans, readSpans } from '../read-traces.ts'

const csvReader = () => spansReader(readingOf('csv', null))
const columnsReader = (columns: string) => spansReader(readingOf('auto', columns))

function rowsOf(text: string, chunk = 1 << 16) {
  const rows: string[][] = []
  const lines: number[] = []
  const splitter = new CsvRows(',', (fields, line) => {
    rows.push([...fields])
    lines.push(line)
  })
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += chunk) splitter.push(bytes.subarray(at, at + chunk))
  return { open: splitter.end(), rows, lines }
}

describe('rows', () => {
  const cases: [string, string, string[][]][] = [
    [
      'end in LF or CRLF, or with the file',
      'a,b\r\nc,d\ne,f',
      [
        ['a', 'b'],
        ['c', 'd'],
        ['e', 'f'],
      ],
    ],
    [
      'may have empty fields',
      ',\n"",""\n',
      [
        ['', ''],
        ['', ''],
      ],
    ],
    ['may be blank, and are ignored', '\na\n\r\n\nb\n', [['a'], ['b']]],
    [
      'may have quoted delimiters and line ends',
      '"a,\n""b""",c\nd,e',
      [
        ['a,\n"b"', 'c'],
        ['d', 'e'],
      ],
    ],
    ['may have quotes within unquoted fields', 'a"b,c"\n', [['a"b', 'c"']]],
    ['may have many-byte characters', 'ü,漢😀\n', [['ü', '漢😀']]],
  ]
  test.each(cases)('%s', (_, text, expected) => {
    for (const chunk of [1, 2, 3, 100]) expect(rowsOf(text, chunk).rows).toEqual(expected)
  })

  test('know their line', () => {
    expect(rowsOf('a\n\n"b\nc"\r\nd').lines).toEqual([1, 3, 5])
  })

  test('that end within quotes are told', () => {
    expect(rowsOf('a,b\nc,"d\ne,f\n').open).toBe(2)
  })

  test('of any fields, written by the rules, are read back', () => {
    const row = fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 9 }), (rows, chunk) => {
        const quoted = rows.map((fields) =>
          fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(','),
        )
        const back = rowsOf(quoted.join('\n'), chunk)
        expect(back.open).toBeUndefined()
        expect(back.rows).toEqual(rows)
      }),
      { numRuns: 40 },
    )
  })
})

const HEADER =
  'TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration'
const ROW =
  '172518eb,d34def8bc2b15d45,root,frontend-579b9bff58-t2dbm,Recv.,1661145996678383311,1661145996691309630,12926'

describe('the pod preset', () => {
  test('takes the service from the pod, the pod as host, and the times to the nanosecond', async () => {
    const set = await readSpans(csvReader(), `${HEADER}\n${ROW}\n`)
    expect(plainSpans(set)).toEqual([
      {
        trace: '172518eb',
        startNs: 1661145996678383311n,
        durationUs: 12926.319,
        parent: 'none',
        service: 'frontend',
        operation: 'Recv.',
        host: 'frontend-579b9bff58-t2dbm',
        kind: 'internal',
        status: 'unset',
        followsFrom: false,
        attributes: {},
      },
    ])
  })

  test('drops the last two parts of a pod name that has more', () => {
    const serviceOf =
      (SPAN_FORMATS as readonly SpanFormat[]).find(({ name }) => name === 'csv')?.serviceOf ??
      String
    expect(
      ['ts-order-service-5b67c48447-fj8b7', 'a-b-c', 'a-b', 'a', ''].map((pod) => serviceOf(pod)),
    ).toEqual(['ts-order-service', 'a', 'a-b', 'a', ''])
  })

  test('takes its columns in any order, among others', async () => {
    const columns = HEADER.split(',')
    const fields = ROW.split(',')
    const swapped = `more,${columns.reverse().join(',')}\nx,${fields.reverse().join(',')}`
    expect(plainSpans(await readSpans(csvReader(), swapped))[0]?.operation).toBe('Recv.')
  })

  test('leaves out a row with too few fields, and one with a bad time, naming their lines', async () => {
    const text = [HEADER, ROW, '1,2,3', ROW.replace('1661145996678383311', 'soon')].join('\n')
    const set = await readSpans(csvReader(), text)
    expect(set.spans.parent.length).toBe(1)
    expect(set.quality().issues.map(({ place, message }) => `${place.line}: ${message}`)).toEqual([
      '3: A row has 3 fields where the header has 8',
      '4: Span d34def8bc2b15d45 has no usable start time',
    ])
  })

  test('stops at such a row with strict', async () => {
    await expect(readSpans(csvReader(), `${HEADER}\n1,2,3\n`, { strict: true })).rejects.toThrow(
      'test.file:2: A row has 3 fields where the header has 8. Correct the row',
    )
  })

  test('notes a file that ends within a row or within quotes, so that nobody knows what is missing', async () => {
    for (const cut of ['"172518eb,', '172518eb,12', '"172518eb",12']) {
      const set = await readSpans(csvReader(), `${HEADER}\n${ROW}\n${cut}`)
      expect(issueCounts(set)).toEqual({ 'truncated-file': 1 })
    }
    const broken = await readSpans(csvReader(), `${HEADER}\n${ROW}\n172518eb,12\n`)
    expect(issueCounts(broken)).toEqual({ 'bad-row': 1 })
    const whole = await readSpans(csvReader(), `${HEADER}\n${ROW}`)
    expect(issueCounts(whole)).toEqual({})
  })
})

describe('a column mapping', () => {
  const columns = (start = 'start', took = 'took') =>
    columnsReader(
      `trace=t,span=id,parent=parent,service=svc,operation=op,start=${start},duration=${took}`,
    )
  const read = async (start: string, took: string, units: readonly string[], delimiter = ',') =>
    plainSpans(
      await readSpans(
        columns(...units),
        `t;id;parent;svc;op;start;took\na;1;0;s;o;${start};${took}`.replaceAll(';', delimiter),
      ),
    )[0]

  test('says the units of times and durations', async () => {
    const expected = { startNs: 1661145996678383311n, durationUs: 1500, host: '', parent: 'none' }
    for (const [timeUnit, start, durationUnit, took] of [
      ['ns', '1661145996678383311', 'us', '1500'],
      ['us', '1661145996678383.311', 'ms', '1.5'],
      ['ms', '1661145996678.383311', 'ns', '1500000'],
      ['s', '1661145996.678383311', 's', '0.0015'],
    ] as const) {
      const units = [`start:${timeUnit}`, `took:${durationUnit}`]
      expect(await read(start, took, units)).toMatchObject(expected)
    }
  })

  test('goes with any delimiter', async () => {
    expect(await read('1000', '2', ['start:s', 'took:us'], '\t')).toMatchObject({ durationUs: 2 })
  })

  test('must fit the header line', async () => {
    await expect(readSpans(columns(), 't,id,svc\n')).rejects.toThrow(
      'test.file:1: The header line has no column parent (parent), op (operation), start (start), took (duration); it has t, id, svc.',
    )
  })
})
