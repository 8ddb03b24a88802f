import { describe, expect, test } from 'vitest'
import { AttributeReader } from '../../../src/calls/attribute-columns.ts'
import {
  type RowOrder,
  reasonToLeaveOut,
  typedColumn,
} from '../../../src/explain/parameters/parameter-table.ts'
import type { AttributeValue } from '../../../src/traces/attributes.ts'

const node = { service: 's', operation: 'o', host: '', phase: 'call' } as const

function reason(attribute: string, values: readonly (AttributeValue | undefined)[]) {
  const rows: RowOrder = {
    labels: Uint8Array.from(values, (_, row) => row % 2),
    periods: Uint8Array.from(values, (_, row) => row % 2),
    startUs: Float64Array.from(values, (_, row) => row),
  }
  const source = { node, occurrence: 0, attribute }
  return reasonToLeaveOut({ ...typed(attribute, values), source }, rows)
}

function typed(attribute: string, values: readonly (AttributeValue | undefined)[]) {
  const reader = new AttributeReader(values.length)
  values.forEach((value, row) => {
    if (value !== undefined) reader.add(row, attribute, value)
  })
  const [column = { attribute, codes: new Uint32Array(values.length), values: [], known: 0 }] =
    reader.finish()
  return typedColumn(attribute, { dropped: null, ...column })
}

const numbers = Array.from({ length: 60 }, (_, i) => (i * 37) % 61)
const kinds = Array.from({ length: 60 }, (_, i) => 'abc'[i % 3] as string)

describe('by name', () => {
  test.each([
    ...[
      'request.id',
      'traceId',
      'user_uuid',
      'breadcrumb',
      'file_soid',
      'session-token',
      'ids',
    ].map((name) => [name, 'identifier'] as const),
    ...['timestamp', 'time', 'start_time', 'createdAt', 'event.date', 'ts'].map(
      (name) => [name, 'timestamp'] as const,
    ),
    ...['thread.id', 'thread.name', 'tid', 'process.pid', 'goroutine'].map(
      (name) => [name, 'thread'] as const,
    ),
    ...['net.peer.ip', 'client.address', 'server.port', 'HostAddress', 'buffer.ptr'].map(
      (name) => [name, 'address'] as const,
    ),
  ])('%s is %s', (name, expected) => {
    expect(reason(name, numbers)).toBe(expected)
  })

  test.each([
    'count',
    'wait_time',
    'lock.wait_us',
    'peer.service',
    'width',
    'paid',
    'grid',
    'valid',
    'http.status_code',
    'response.time.ms',
    'timeout',
    'import',
    'transport',
    'script',
    'host',
  ])('%s is of use', (name) => {
    expect(reason(name, name === 'host' ? kinds : numbers)).toBeNull()
  })
})

describe('by values', () => {
  test('one value is constant, also beside missing ones', () => {
    expect(reason('x', [1, undefined, 1])).toBe('constant')
    expect(reason('x', ['a', 'a'])).toBe('constant')
    expect(reason('x', [true, true])).toBe('constant')
  })

  test('text of another kind in each request is unique; numbers may be', () => {
    expect(
      reason(
        'x',
        Array.from({ length: 30 }, (_, i) => `v${i}`),
      ),
    ).toBe('unique')
    expect(reason('x', numbers)).toBeNull()
    expect(reason('x', kinds)).toBeNull()
  })

  test('numbers that rise with the requests count them', () => {
    expect(
      reason(
        'x',
        Array.from({ length: 60 }, (_, i) => 7 * i),
      ),
    ).toBe('counter')
    expect(
      reason(
        'x',
        Array.from({ length: 60 }, (_, i) => -i),
      ),
    ).toBe('counter')
    expect(
      reason(
        'x',
        Array.from({ length: 60 }, (_, i) => Math.floor(i / 20)),
      ),
    ).toBeNull()
  })

  test('addresses and moments are recognised', () => {
    expect(reason('x', ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.1:80', '10.0.0.2:80'])).toBe(
      'address',
    )
    expect(reason('x', ['0x7ffee4c0', '0x7ffee4c8', '0x7ffee4c0', '0x7ffee4c8'])).toBe('address')
    expect(reason('x', ['2026-11-21T10:00', '2026-11-21T10:01', '2026-11-21T10:00'])).toBe(
      'timestamp',
    )
  })
})

describe('typed columns', () => {
  test('numbers, also as text, are numeric; names and mixtures are categorical', () => {
    expect(typed('x', [1, '2.5', undefined])).toMatchObject({ kind: 'numeric' })
    expect(typed('x', ['00501', '10001']).kind).toBe('categorical')
    expect(typed('x', [1, 'many'])).toMatchObject({ levels: ['1', 'many'] })
    expect(typed('x', [true, false, undefined])).toMatchObject({
      levels: ['false', 'true'],
      codes: Int32Array.of(1, 0, -1),
    })
    expect(typed('x', [Number.POSITIVE_INFINITY, 1]).kind).toBe('categorical')
    expect(typed('x', [undefined]).kind).toBe('categorical')
  })
})
