import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US, type SpanSketch } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'

interface Consumer {
  readonly wait: Pick<SpanSketch, 'operation' | 'kind' | 'attributes'>
  readonly waitUs: number
  readonly workUs?: number
}

const REQUESTS = 200

/** A consumer that waits for a message, then works on it. */
function period(name: string, { wait, waitUs, workUs = 20_000 }: Consumer) {
  const seed = name.length + waitUs + workUs
  const everyUs = waitUs + workUs
  return record({ seed, requests: REQUESTS, everyUs, fromUs: NOON_US, name }, (r) => {
    const [idleUs, ownUs] = [waitUs, workUs].map((us) => us * (0.8 + 0.4 * r.next()))
    return call('worker', [idleUs!, 0], wait, [call('worker handle', ownUs!, { isAsync: true })])
  })
}

const WAITS = {
  'a receive that an attribute tells': {
    operation: 'jobs',
    kind: 'consumer',
    attributes: { 'messaging.operation.type': 'receive' },
  },
  'a poll by its name': { operation: 'orders poll', kind: 'client' },
  'a read of Redis that blocks': { operation: 'BLPOP', kind: 'client' },
} as const

describe('consumers that wait for work', () => {
  test.each(Object.entries(WAITS))('%s: rarer messages make nothing slower', (_, wait) => {
    const comparison = compare(
      period('before', { wait, waitUs: 500_000 }),
      period('after', { wait, waitUs: 2_000_000 }),
    )
    expect(comparison.findings.findings.map(({ kind, title }) => [kind, title])).toEqual([])
    const told = comparison.warnings().find(({ code }) => code === 'idle-waits')
    expect(told?.message).toMatch(
      /^Consumers wait for work: worker .* \(\d+ ms before, [12][.\d]* s after\)\.$/,
    )
  })

  test.each(Object.entries(WAITS))('%s: slower work is found', (_, wait) => {
    const [finding] = compare(
      period('before', { wait, waitUs: 2_000_000 }),
      period('after', { wait, waitUs: 500_000, workUs: 30_000 }),
    ).findings.findings
    expect(finding?.title).toMatch(/^worker: handle itself takes (9\.\d*|10(\.\d)?) ms longer/)
    expect(finding?.shareOfChange).toBeCloseTo(1, 1)
  })

  test('a call that ends before the next begins is work', () => {
    const wait = { operation: 'query', kind: 'client' } as const
    const [finding] = compare(
      period('before', { wait, waitUs: 500_000 }),
      period('after', { wait, waitUs: 700_000 }),
    ).findings.findings
    expect(finding?.title).toContain('query')
  })
})
