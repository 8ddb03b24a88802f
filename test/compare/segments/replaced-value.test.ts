import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/index.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** Carts that ask a database at an address, which takes a while. */
function period(
  seed: number,
  { address, ms }: { address: string | readonly string[]; ms: number },
) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 200 }, (_, i): SpanSketch[] => {
    const trace = `${seed} ${i}`
    const [startUs, takesUs] = [seed * 1e10 + i * 1e6, 1000 * ms * random.logNormal(0, 0.1)]
    const own = { trace, service: 'cart' }
    const peer = typeof address === 'string' ? address : (address[i % address.length] as string)
    return [
      { ...own, id: 'r', operation: 'GET /cart', startUs, endUs: startUs + takesUs + 2000 },
      {
        ...own,
        id: 'q',
        parent: 'r',
        kind: 'client',
        operation: 'FIND carts',
        attributes: { 'server.address': peer },
        startUs: startUs + 1000,
        endUs: startUs + 1000 + takesUs,
      },
    ]
  })
  return makeSpans(spans.flat())
}

test.each([
  [
    'moves to another',
    'mongo-1.west',
    'mongo-7.east',
    /server\.address = mongo-7\.east in 100 % of calls \(0 %/,
  ],
  ['stays where it was', 'mongo-1.west', 'mongo-1.west', null],
  ['has two, one of them new', 'mongo-1', ['mongo-1', 'mongo-2'], null],
] as const)('an address that %s is told only where none is as before', (_, was, is, note) => {
  const { findings } = compare(
    period(1, { address: was, ms: 5 }),
    period(2, { address: is, ms: 14 }),
  )
  const text = findings.text()
  expect(text).toMatch(
    /(cart|mongo-[1*.west]+): FIND carts (within GET \/cart )?takes [89]\.?\d* ms longer/,
  )
  if (note === null) expect(text).not.toContain('at the same time')
  else expect(text).toMatch(note)
})

/** Requests of `web` to `db`, each on its own host; `db` takes `ms`. */
function hosted(
  seed: number,
  { hosts, ms }: { hosts: readonly [web: string, db: string]; ms: number },
) {
  const random = randomSource(seed)
  const [web, db] = hosts
  const spans = Array.from({ length: 200 }, (_, i): SpanSketch[] => {
    const trace = `${seed} ${i}`
    const [startUs, takesUs] = [seed * 1e10 + i * 1e6, 1000 * ms * random.logNormal(0, 0.1)]
    const [webUs, endUs] = [2000 * random.logNormal(0, 0.1), startUs + 1000 + takesUs]
    const attributesOf = (host: string) => ({ 'k8s.pod.uid': `uid-${host}` })
    return [
      {
        trace,
        id: 'r',
        service: 'web',
        host: web,
        startUs,
        endUs: endUs + webUs,
        attributes: attributesOf(web),
      },
      {
        trace,
        id: 'q',
        parent: 'r',
        service: 'db',
        host: db,
        startUs: startUs + 1000,
        endUs,
        attributes: attributesOf(db),
      },
    ]
  })
  return makeSpans(spans.flat())
}

test.each([
  ['all services were deployed anew', ['web-2', 'db-2'], false],
  ['only the slow one was', ['web-1', 'db-2'], true],
] as const)('where %s, the new host is told if it may matter', (_, hosts, isTold) => {
  const { findings } = compare(
    hosted(1, { hosts: ['web-1', 'db-1'], ms: 5 }),
    hosted(2, { hosts, ms: 9 }),
    { omitHosts: true },
  )
  expect(findings.text()).toMatch(/db: .* takes [34]\.?\d* ms longer/)
  expect(findings.text().includes('at the same time')).toBe(isTold)
})
