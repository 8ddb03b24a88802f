import { expect, test } from 'vitest'
import { attributesOf, DOT, loadWith, SPANS } from '../load-with-parameters.ts'

test('numbers, truth values and text are told apart; empty fields and NULL are missing', async () => {
  const fields = {
    whole: '4096',
    negative: '-3',
    fraction: '0.50',
    exponent: '1e3',
    plus: '+2',
    yes: 'TRUE',
    no: 'false',
    text: 'a b',
    quoted: '"a, ""b"""',
    postcode: '01234',
    huge: '9007199254740993',
    empty: '',
    blank: '""',
    missing: 'NULL',
    nothing: 'null',
  }
  const text = `node,${Object.keys(fields).join()}\n1.10,${Object.values(fields).join()}\n`
  expect(attributesOf(await loadWith(DOT, text))[0]).toEqual({
    whole: 4096,
    negative: -3,
    fraction: 0.5,
    exponent: 1000,
    plus: 2,
    yes: true,
    no: false,
    text: 'a b',
    quoted: 'a, "b"',
    postcode: '01234',
    huge: '9007199254740993',
    nothing: 'null',
  })
})

test('key columns may stand anywhere and be written in any way', async () => {
  for (const [trace, span] of [
    ['traceId', 'spanId'],
    ['TRACE_ID', 'span_id'],
    ['trace id', ' SpanID '],
  ]) {
    const set = await loadWith(SPANS, `\uFEFFsize,${span},disk,${trace}\r\n1,b2,"sd,a",a0\r\n`)
    expect(attributesOf(set)[1]).toEqual({ size: 1, disk: 'sd,a' })
  }
})

test('beside a span id, a column node is a parameter', async () => {
  const set = await loadWith(SPANS, 'spanId,node\nb2,worker-1\n')
  expect(attributesOf(set)[1]).toEqual({ node: 'worker-1' })
})

test('the halves of a node id may be columns breadcrumb and timestamp', async () => {
  const set = await loadWith(DOT, 'size,timestamp,breadcrumb\n4,10,1\n')
  expect(attributesOf(set)[0]).toEqual({ size: 4 })
})

test.each([
  [
    'without a key',
    'id,size\n1,2\n',
    'p0:1: The header line of the parameters has no column spanId or node; it has id, size. Head the columns with spanId',
  ],
  ['with a trace and no span', 'traceId,size\n1,2\n', 'has no column spanId or node'],
  [
    'without parameters',
    'traceId,spanId\n1,2\n',
    'p0:1: The header line has no columns of parameters, only traceId, spanId',
  ],
  ['that is JSON', '{"node": 1}', 'it has {"node": 1}'],
  [
    'with a row too short',
    'node,size\n1.10,1\n1.20\n',
    'p0:3: A row of parameters has 1 fields where the header line has 2 columns. Correct the row or take it out',
  ],
  [
    'with a row without id',
    'node,size\n\n ,1\n',
    'p0:3: A row of parameters has no node, which says what it is about',
  ],
  [
    'with a quote that does not end',
    'node,size\n1.10,"1\n',
    'p0:2: A quoted field begins that does not end. Close the quote',
  ],
])('a table %s is an error that says where', async (_, text, message) => {
  await expect(loadWith(DOT, text)).rejects.toThrow(message)
})
