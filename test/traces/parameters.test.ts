import { expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { attributesOf, DOT, loadWith, notesOf, SPANS } from './load-with-parameters.ts'

test('parameters of nodes stand at the node, also where the root is not the first in the file', async () => {
  const set = await loadWith(DOT, 'node,size\n1.10,4096\n1.20,512\n')
  expect(attributesOf(set)).toEqual([{ size: 4096 }, { status: 3, size: 512 }])
  expect(notesOf(set)).toEqual([])
})

test('parameters of nodes may be named with the trace they are of', async () => {
  const both = DOT + DOT.replace('# 7', '# 8')
  const set = await loadWith(both, 'traceId,node,size\n8,1.10,1\n7,1.10,2\n')
  expect(attributesOf(set).map(({ size }) => size)).toEqual([2, undefined, 1, undefined])
})

test('parameters of spans are found by trace and span, whatever the capitals and leading zeros', async () => {
  const set = await loadWith(SPANS, 'trace_id,SpanID,size\nA0,00B1,1\n0000a0,b2,2\nc0,B1,3\n')
  expect(attributesOf(set)).toEqual([{ status: 3, size: 1 }, { size: 2 }, { size: 3 }])
})

test('parameters of spans count for each trace that has the span id alone, which is noted', async () => {
  const set = await loadWith(SPANS, 'spanId,size\nb1,1\nb2,2\n')
  expect(attributesOf(set).map(({ size }) => size)).toEqual([1, 2, 1])
  expect(notesOf(set)).toEqual([
    'ambiguous-parameters p0:2 : Several traces have span b1; the row counts for each of them',
  ])
})

test('both halves of a call with one span id have its parameters, which is not ambiguous', async () => {
  const half = (kind: string) => ({
    traceId: 'a',
    id: 'b',
    kind,
    name: 'get',
    timestamp: 1,
    duration: 2,
    localEndpoint: { serviceName: kind },
  })
  const set = await loadWith(JSON.stringify([half('CLIENT'), half('SERVER')]), 'spanId,n\nb,1\n')
  expect(attributesOf(set)).toEqual([{ n: 1 }, { n: 1 }])
  expect(notesOf(set)).toEqual([])
})

test('rows about nothing in the traces are counted and named with their line', async () => {
  const set = await loadWith(DOT, 'node,size\n1.10,1\n1.30,2\n1.20,3\n1.40,4\n')
  expect(set.quality().counts).toEqual(new Map([['unused-parameters', 2]]))
  expect(notesOf(set)).toEqual([
    'unused-parameters p0:3 : The row is about node 1.30, which is not in the traces',
    'unused-parameters p0:5 : The row is about node 1.40, which is not in the traces',
  ])
})

test('rows about nodes of a trace that is left out are about nothing', async () => {
  const cyclic = DOT.replace('# 7', '# 8')
    .replaceAll('1.', '2.')
    .replace('}', '2.20 -> 2.10 [label="R: 1.0 us"]\n}')
  const set = await loadWith(cyclic + DOT, 'node,size\n2.10,1\n1.10,2\n1.20,3\n')
  expect([...set.quality().counts]).toEqual([
    ['cyclic-graph', 1],
    ['unused-parameters', 1],
  ])
})

test('how many nodes no row is about is said', async () => {
  expect(notesOf(await loadWith(DOT, 'node,size\n1.20,1\n'))).toEqual([
    'no-parameters : 7: 1 of 2 nodes have no row among the parameters, first: node 1.10',
  ])
  expect(notesOf(await loadWith(SPANS, 'traceId,spanId,size\nc0,b1,1\n'))).toEqual([
    'no-parameters : 00a0: 2 of 3 spans have no row among the parameters, first: span b1',
  ])
})

test('of values that contradict each other, that of the trace counts, then the first', async () => {
  const set = await loadWith(DOT, ['node,status,size\n1.20,9,1\n1.10,,1\n', 'node,size\n1.20,2\n'])
  expect(attributesOf(set)).toEqual([{ size: 1 }, { status: 3, size: 1 }])
  expect(notesOf(set)).toEqual([
    'repeated-parameter : 7: status of node 1.20 has two values, 3 and 9; the first is kept',
    'repeated-parameter : 7: size of node 1.20 has two values, 1 and 2; the first is kept',
  ])
})

test('several files, compressed or not, add to each other', async () => {
  const set = await loadWith(DOT, [
    'node,size\n1.10,1\n1.20,2\n',
    'Breadcrumb,time_stamp,hit\n1,10,true\n',
  ])
  expect(attributesOf(set)).toEqual([
    { size: 1, hit: true },
    { status: 3, size: 2 },
  ])
})

test('an SQL dump names the way to convert it', async () => {
  await expect(loadWith(DOT, 'CREATE TABLE t(a INT, b INT, c INT);')).rejects.toThrow(
    'p0: The file of parameters is an SQL dump, not CSV. Convert it with datasets/sql-parameters/convert.ts',
  )
})

test('a version in the parameters is the version of its service', async () => {
  const set = await loadWith(SPANS, 'spanId,service.version\nb2,1.2.3\n')
  expect(set.kind === 'spans' && [...set.versions.values()][0]).toEqual(new Map([['1.2.3', 1]]))
})

test('parameters are part of the progress', async () => {
  const seen: number[] = []
  const parameters = { name: 'p', bytes: 'node,size\n1.10,1\n' }
  await loadTraces(
    { name: 'traces', bytes: DOT },
    { parameters, onProgress: ({ bytesRead, bytesTotal }) => seen.push(bytesRead, bytesTotal) },
  )
  const total = DOT.length + parameters.bytes.length
  expect(seen).toEqual([parameters.bytes.length, total, total, total])
})

test('strict does not stop at traces without parameters', async () => {
  const set = await loadWith(DOT, 'node,size\n1.10,1\n9.9,1\n', { strict: true })
  expect([...set.quality().counts.keys()]).toEqual(['unused-parameters', 'no-parameters'])
})

test('a table without rows says nothing of any node', async () => {
  expect(notesOf(await loadWith(DOT, 'node,size\n'))).toEqual([
    'no-parameters : 7: 2 of 2 nodes have no row among the parameters, first: node 1.10',
  ])
})

test.each([
  [
    'parameters of which none belongs to the traces',
    DOT,
    'node,size\n2.10,1\n2.20,1\n',
    'p0:2: No row of parameters matches anything in the traces (2 rows): the first is about node 2.10, the traces begin with node 1.10. Name nodes in column node as the DOT file does',
  ],
  [
    'parameters of spans for graphs',
    DOT,
    'spanId,size\n1.10,1\n',
    'p0:2: No row of parameters matches anything in the traces (1 row): the first is about span 1.10, the traces begin with node 1.10.',
  ],
  [
    'parameters for a format without ids of nodes',
    'X-Trace Report ver 1.0\nX-Trace: 100102030400000001\nTimestamp: 1.5\n',
    'node,size\n1.10,1\n',
    'their format has no ids to name trace points by. Give parameters for DOT graphs (column node) or for spans',
  ],
  ['an empty file', DOT, ' \n', 'p0: The file of parameters is empty. Leave it out'],
])('%s are an error', async (_, traces, parameters, message) => {
  await expect(loadWith(traces, parameters)).rejects.toThrow(message)
})

test('a file of parameters named twice, or absent, is an error', async () => {
  const load = (parameters: string[]) => loadTraces({ name: 'traces', bytes: DOT }, { parameters })
  await expect(load(['a.csv', 'a.csv'])).rejects.toThrow('Option parameters is "a list with a.csv')
  await expect(load(['no-such-file.csv'])).rejects.toThrow('no-such-file.csv cannot be opened')
})
