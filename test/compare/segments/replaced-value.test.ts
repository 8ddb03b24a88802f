import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record } from '../../worlds.ts'

/** Carts that ask a database at an address, which takes a while. */
function period(
  seed: number,
  { address, ms }: { address: string | readonly string[]; ms: number },
) {
  return record({ seed, requests: 200, fromUs: seed * 1e10 }, (r) => {
    const peers = [address].flat()
    const attributes = { 'server.address': peers[r.index % peers.length]! }
    const find = call('cart FIND carts', r.about(1000 * ms, 0.1), { kind: 'client', attributes })
    return call('cart GET /cart', 2000, {}, [find])
  })
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
  const [web, db] = hosts
  const on = (host: string) => ({ host, attributes: { 'k8s.pod.uid': `uid-${host}` } })
  return record({ seed, requests: 200, fromUs: seed * 1e10 }, (r) =>
    call('web', [1000, r.about(2000, 0.1)], on(web), [call('db', r.about(1000 * ms, 0.1), on(db))]),
  )
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
