import { describe, expect, test } from 'vitest'
import { unrecordedCallees } from '../../src/calls/unrecorded-callees.ts'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { compare } from '../../src/index.ts'
import { randomSource } from '../../src/stats/index.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

type Says = Readonly<Record<string, string>>

const MYSQL = { 'db.system': 'mysql', 'server.address': 'main-db-3' }

/** One request a row of `says`: `shop GET` with a client span `READ` that says so. */
function calleesOf(
  says: readonly Says[],
  change: (span: SpanSketch) => SpanSketch[] = (own) => [own],
) {
  const spans = says.flatMap((attributes, i): SpanSketch[] => {
    const own = { trace: `${i}`, service: 'shop', startUs: i * 1e6, endUs: i * 1e6 + 1000 }
    const call = {
      ...own,
      id: 'q',
      parent: 'r',
      operation: 'READ',
      kind: 'client' as const,
      attributes,
    }
    return [{ ...own, id: 'r', operation: 'GET', endUs: own.endUs + 500 }, ...change(call)]
  })
  return unrecordedCallees(buildFlows(makeSpans(spans))).map(({ callee }) => callee)
}

describe('the callee of client spans without another side', () => {
  test.each<[string, readonly Says[], string[]]>([
    ['is the host that all of them name', [MYSQL, MYSQL], ['main-db-3']],
    [
      'is the system where hosts differ',
      [MYSQL, { ...MYSQL, 'server.address': 'db-7' }],
      ['mysql'],
    ],
    [
      'is what the names of hosts have in common where nothing else is said',
      [{ 'server.address': 'es-1.internal' }, { 'server.address': 'es-2.internal' }],
      ['es-*.internal'],
    ],
    ['are two where some name another', [MYSQL, { 'db.system': 'redis' }], ['main-db-3', 'redis']],
    ['is none where some name nothing', [MYSQL, {}], []],
    ['is none for addresses that name nothing', [{ 'server.address': '10.0.0.7' }], []],
    ['is none for a service that records spans', [{ 'peer.service': 'shop' }], []],
  ])('%s', (_, says, callees) => {
    expect(calleesOf(says)).toEqual(callees)
  })

  test('is none of spans of other kinds, and none where one call is answered', () => {
    expect(calleesOf([MYSQL], (own) => [{ ...own, kind: 'internal' }])).toEqual([])
    const answered = (own: SpanSketch) =>
      own.trace === '1'
        ? [own, { ...own, id: 's', parent: 'q', service: 'store', kind: 'server' as const }]
        : [own]
    expect(calleesOf([MYSQL, MYSQL], answered)).toEqual([])
  })

  test('is known as well where one span lost its caller', () => {
    const lost = (own: SpanSketch) => [own.trace === '1' ? { ...own, parent: 'lost' } : own]
    expect(calleesOf([MYSQL, MYSQL, MYSQL], lost)).toEqual(['main-db-3'])
  })
})

/** Two services with much work of their own, which read from one database in every tenth request each. */
function period(
  name: string,
  { seed, readMs, isNamed = true }: { seed: number; readMs: number; isNamed?: boolean },
) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 400 }, (_, i): SpanSketch[] => {
    const service = ['booking', 'quote'][i % 2]!
    const reads = i % 10 < 2
    const startUs = i * 1e6
    const [workUs, readUs] = [
      20_000 * random.logNormal(0, 0.6),
      1000 * readMs * random.logNormal(0, 0.3),
    ]
    const own = { trace: `${name} ${i}`, service }
    const endUs = startUs + workUs + (reads ? readUs : 0)
    const root = { ...own, id: 'r', operation: 'POST', startUs, endUs }
    const read: SpanSketch = {
      ...{ ...own, id: 'q', parent: 'r', operation: 'READ', kind: 'client' },
      ...{ startUs: startUs + workUs / 2, endUs: startUs + workUs / 2 + readUs },
      attributes: isNamed ? MYSQL : {},
    }
    return reads ? [root, read] : [root]
  })
  return makeSpans(spans.flat(), name)
}

describe('a database that two services share takes longer', () => {
  const compared = compare(
    period('before', { seed: 1, readMs: 4 }),
    period('after', { seed: 2, readMs: 7 }),
  )

  test('and is one finding, which adds what its calls take longer', () => {
    const [first, ...others] = compared.findings.findings
    expect(others).toEqual([])
    expect(first).toMatchObject({
      where: 'main-db-3',
      services: ['booking', 'quote', 'main-db-3'],
      requests: 80,
    })
    expect(first!.title).toMatch(/^main-db-3: READ takes [\d.]+ ms longer/)
    expect(first!.look).toBe('main-db-3 (called by booking and quote)')
    // The mean of the factor is exp(0.3² / 2).
    expect(first!.contributionUs / (80 * 3000 * Math.exp(0.045))).toBeCloseTo(1, 0.5)
  })

  test('which a snapshot tells, too', () => {
    const restored = restoreComparison(
      JSON.parse(JSON.stringify(takeSnapshot(compared, { latenciesOf: () => true }))),
    )
    expect(restored.findings.findings.map(({ title }) => title)).toEqual(
      compared.findings.findings.map(({ title }) => title),
    )
  })

  test('and its time is no part of the work of those who call it', () => {
    const parts = compared.account.steps.filter(({ service }) => service === 'main-db-3')
    expect(parts.map(({ kind, caller }) => [kind, caller]).sort()).toEqual([
      ['call', 'booking'],
      ['call', 'quote'],
    ])
  })
})

test('a period in which these spans do not say what they call is no change', () => {
  const before = period('before', { seed: 1, readMs: 4 })
  const after = period('after', { seed: 2, readMs: 4, isNamed: false })
  expect(compare(before, after).findings.findings).toEqual([])
})

/** `booking` calls `quote`, and each reads three times from one database; a share of the reads hangs and fails. */
function hanging(offset: number, share: number) {
  const random = randomSource(offset)
  const spans = Array.from({ length: 400 }, (_, i): SpanSketch[] => {
    const trace = `${offset} ${i}`
    let nowUs = offset * 1e10 + i * 1e6
    const own: SpanSketch[] = []
    const visit = (service: string, parent: string | null, inner: () => void) => {
      const startUs = nowUs
      nowUs += 2000 * random.logNormal(0, 0.3)
      for (let read = 0; read < 3; read++) {
        const fails = random.next() < share
        const us = fails ? 250_000 : 2000 * random.logNormal(0, 0.5)
        own.push({
          ...{ trace, service, id: `${service} ${read}`, parent: service, operation: 'READ' },
          ...{ kind: 'client', startUs: nowUs, endUs: nowUs + us },
          attributes: fails ? { ...MYSQL, 'rpc.grpc.status_code': 4 } : MYSQL,
          status: fails ? 'error' : 'ok',
        })
        nowUs += us
      }
      inner()
      own.push({
        trace,
        service,
        id: service,
        parent,
        operation: `GET ${service}`,
        startUs,
        endUs: nowUs,
      })
    }
    visit('booking', null, () => visit('quote', 'booking', () => {}))
    return own
  })
  return makeSpans(spans.flat())
}

test('reads that hang until they are given up fail for their time, whichever service makes them', () => {
  const { findings } = compare(hanging(1, 0), hanging(2, 0.06)).findings
  expect(findings.map(({ kind, where }) => `${kind} ${where}`)).toEqual(['latency main-db-3'])
  expect(findings[0]!.consequences.map(({ kind }) => kind)).toContain('errors')
})
