import { expect, test } from 'vitest'
import { issueCounts, plainSpans, readerOf, readSpans } from '../read-traces.ts'

const span = (id: string, kind: string, service: string, fields: object = {}) => ({
  traceId: 't1',
  id,
  kind,
  name: `${kind.toLowerCase()} ${service}`,
  timestamp: 1_000_000,
  duration: 100,
  localEndpoint: { serviceName: service },
  ...fields,
})
const read = (spans: object[]) => readSpans(readerOf('zipkin'), JSON.stringify(spans))
const parents = async (spans: object[]) =>
  Object.fromEntries(plainSpans(await read(spans)).map((s) => [s.operation, s.parent]))

const ROOT = span('1', 'SERVER', 'front')
const CLIENT = span('2', 'CLIENT', 'front', { parentId: '1' })
const SERVER = span('2', 'SERVER', 'back', { parentId: '1', shared: true })

test('of a client and a server with one id, in any order, the server is the child', async () => {
  for (const spans of [
    [ROOT, CLIENT, SERVER],
    [SERVER, CLIENT, ROOT],
    [{ ...SERVER, shared: undefined }, ROOT, CLIENT],
  ]) {
    expect(await parents(spans)).toEqual({
      'server front': 'none',
      'client front': 'server front',
      'server back': 'client front',
    })
  }
})

test('a child of a shared id belongs to the half in its own service, else to the server', async () => {
  const children = [
    span('3', 'CLIENT', 'back', { parentId: '2', name: 'by back' }),
    span('4', '', 'front', { parentId: '2', name: 'by front' }),
    span('5', 'SERVER', 'other', { parentId: '2', name: 'by other' }),
  ]
  expect(await parents([...children, ROOT, CLIENT, SERVER])).toMatchObject({
    'by back': 'server back',
    'by front': 'client front',
    'by other': 'server back',
  })
})

test('a shared server whose client is not in the files is a child of what its id names', async () => {
  expect(await parents([ROOT, SERVER])).toEqual({
    'server front': 'none',
    'server back': 'server front',
  })
})

test('a shared server alone, without a parent, is a root', async () => {
  const set = await read([span('1', 'SERVER', 'front', { shared: true })])
  expect(plainSpans(set)[0]?.parent).toBe('none')
})

test('a copy of a half is left out and counted', async () => {
  const set = await read([ROOT, CLIENT, SERVER, SERVER, CLIENT])
  expect([set.spans.parent.length, issueCounts(set)]).toEqual([3, { 'duplicate-span': 2 }])
  expect(set.quality().issues[0]?.message).toBe(
    'Span 0000000000000002 is there twice; the later one is left out',
  )
})

test('two servers with one id and no client are copies, not halves', async () => {
  const set = await read([ROOT, SERVER, { ...SERVER, timestamp: 1_000_050 }])
  expect([set.spans.parent.length, issueCounts(set)]).toEqual([2, { 'duplicate-span': 1 }])
})

test('one message to two servers under one id makes two children', async () => {
  const other = { ...SERVER, name: 'other', timestamp: 1_000_050 }
  expect(await parents([SERVER, other, CLIENT, ROOT])).toMatchObject({
    'server back': 'client front',
    other: 'client front',
  })
})

test('a span without a duration counts as 0 µs, its parent does not wait, and it is noted', async () => {
  const set = await read([ROOT, { ...CLIENT, duration: undefined }])
  expect(plainSpans(set)[1]).toMatchObject({ durationUs: 0, followsFrom: true })
  expect(set.quality().issues.map(({ message }) => message)).toEqual([
    '1 span without a duration (one way, or never finished), taken as 0 µs long',
  ])
})

test('a span without a timestamp is left out', async () => {
  const set = await read([ROOT, { ...CLIENT, timestamp: undefined }])
  expect([set.spans.parent.length, issueCounts(set)]).toEqual([1, { 'unusable-span': 1 }])
})

test('tags written as numbers become numbers; errors are the status; annotations are events', async () => {
  const fields = {
    tags: { 'http.status_code': '200', zip: '0200', error: 'timeout' },
    annotations: [{ timestamp: 1, value: 'cache miss' }],
  }
  expect(plainSpans(await read([span('1', 'PRODUCER', 's', fields)]))[0]).toMatchObject({
    kind: 'producer',
    status: 'error',
    attributes: { 'http.status_code': 200, zip: '0200', error: 'timeout', event: 'cache miss' },
  })
})

test('the host is the IPv4 address, else the IPv6 address', async () => {
  const hosts = plainSpans(
    await read([
      span('1', 'SERVER', 'a', { localEndpoint: { ipv4: '10.0.0.1', ipv6: '::1' } }),
      span('2', 'SERVER', 'b', { localEndpoint: { ipv6: '::1' } }),
      span('3', 'SERVER', 'c', { localEndpoint: undefined }),
    ]),
  )
  expect(hosts.map(({ host }) => host)).toEqual(['10.0.0.1', '::1', ''])
})

test('what a client says that it calls is its parameter peer.service, unless it is tagged', async () => {
  const remoteEndpoint = { serviceName: 'store.example.com' }
  const set = await read([
    { ...ROOT, remoteEndpoint },
    { ...CLIENT, remoteEndpoint },
    { ...CLIENT, id: '3', remoteEndpoint, tags: { 'peer.service': 'store' } },
  ])
  const called = Object.fromEntries(
    plainSpans(set).map(({ operation, service }, i) => [
      `${i} ${operation} ${service}`,
      set.attributes.get(i, 'peer.service'),
    ]),
  )
  expect(called).toEqual({
    '0 server front front': undefined,
    '1 client front front': 'store.example.com',
    '2 client front front': 'store',
  })
})
