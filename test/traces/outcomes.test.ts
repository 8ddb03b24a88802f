import { describe, expect, test } from 'vitest'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { messageTemplate } from '../../src/traces/outcomes.ts'
import { otlpReader } from '../../src/traces/readers/otlp.ts'
import { readerOf, readSpans } from './read-traces.ts'

async function outcomeOf(reader: typeof otlpReader, file: object) {
  const flows = buildFlows(await readSpans(reader, JSON.stringify(file)))
  return flows.outcomes?.of(0)
}

const tagged = (tags: Record<string, string | number | boolean>) =>
  Object.entries(tags).map(([key, value]) => ({ key, value }))

function otlp(tags: Record<string, string>, fields: object = {}) {
  const attributes = tagged(tags).map(({ key, value }) => ({ key, value: { stringValue: value } }))
  const span = {
    traceId: '5b8aa5a2d2c872e8321cf37308d69df2',
    spanId: '051581bf3cb55c13',
    name: 'GET /',
    startTimeUnixNano: '1000000000',
    endTimeUnixNano: '1000100000',
    attributes,
    ...fields,
  }
  return outcomeOf(otlpReader, { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
}

function jaeger(tags: Record<string, string | number | boolean>, logs: object[] = []) {
  const span = {
    traceID: 'a',
    spanID: 'b',
    operationName: 'GET /',
    startTime: 1e6,
    duration: 100,
    processID: 'p1',
    tags: tagged(tags),
    logs,
  }
  const processes = { p1: { serviceName: 'web' } }
  return outcomeOf(readerOf('jaeger'), { data: [{ traceID: 'a', spans: [span], processes }] })
}

function zipkin(tags: Record<string, string>) {
  const span = { traceId: 'a', id: 'b', name: 'get', timestamp: 1e6, duration: 100, tags }
  return outcomeOf(readerOf('zipkin'), [span])
}

const plain = (outcome: string) => ({ outcome, code: '', message: '' })

describe('how a span ended is said', () => {
  test("by OTLP's status and its message", async () => {
    expect(await otlp({}, { status: { code: 2, message: 'no stock' } })).toEqual({
      outcome: 'error',
      code: '',
      message: 'no stock',
    })
    expect(await otlp({}, { status: { code: 1 } })).toEqual(plain('ok'))
    expect(await otlp({})).toEqual(plain('unset'))
  })

  test('by HTTP codes from 500 on; 404 is kept and is no error, 200 is nothing', async () => {
    const of = async (code: string) => await otlp({ 'http.response.status_code': code })
    expect(await of('503')).toEqual({ outcome: 'error', code: 'HTTP 503', message: '' })
    expect(await of('404')).toEqual({ outcome: 'unset', code: 'HTTP 404', message: '' })
    expect(await of('200')).toEqual(plain('unset'))
    expect(await jaeger({ 'http.status_code': 500 })).toMatchObject({ outcome: 'error' })
  })

  test('by gRPC codes that the server is to blame for', async () => {
    const of = async (code: string) => await otlp({ 'rpc.grpc.status_code': code })
    expect(await of('14')).toEqual({ outcome: 'error', code: 'gRPC 14', message: '' })
    expect(await of('5')).toEqual({ outcome: 'unset', code: 'gRPC 5', message: '' })
    expect(await of('0')).toEqual(plain('unset'))
  })

  test('by exceptions, unless they were caught or the status is ok', async () => {
    const thrown = (escaped: string[]) => ({
      name: 'exception',
      attributes: [
        { key: 'exception.message', value: { stringValue: 'no percentOff' } },
        ...escaped.map((value) => ({ key: 'exception.escaped', value: { stringValue: value } })),
      ],
    })
    const failed = { outcome: 'error', code: '', message: 'no percentOff' }
    expect(await otlp({}, { events: [thrown([])] })).toEqual(failed)
    expect(await otlp({}, { events: [thrown(['false'])] })).toEqual(plain('unset'))
    const handled = { events: [thrown([])], status: { code: 1 } }
    expect(await otlp({}, handled)).toEqual(plain('ok'))
  })

  test("by Jaeger's and Zipkin's error, with what logs say", async () => {
    const logs = [{ timestamp: 1e6, fields: tagged({ event: 'error', message: 'pool is empty' }) }]
    expect(await jaeger({ error: true }, logs)).toEqual({
      outcome: 'error',
      code: '',
      message: 'pool is empty',
    })
    expect(await jaeger({ error: false })).toEqual(plain('unset'))
    expect(await zipkin({ error: 'connection refused' })).toEqual({
      outcome: 'error',
      code: '',
      message: 'connection refused',
    })
    expect(await zipkin({ 'otel.status_code': 'OK' })).toEqual(plain('ok'))
  })
})

test('a message loses ids, addresses and numbers, but no code and no name', () => {
  expect(messageTemplate('order 5f4b6b03-8b79-46e9-8f9f-6be35d578094: 3 of 12 items')).toBe(
    'order <id>: <n> of <n> items',
  )
  expect(messageTemplate('10.0.3.7:8080 refused after 30ms\n  at main.js')).toBe(
    '<address> refused after <n>ms',
  )
  const kept = 'handler returned 500: schema mismatch in enterprise_v2_response'
  expect(messageTemplate(kept)).toBe(kept)
})
