import { describe, expect, test } from 'vitest'
import type { SpanSketch } from '../../make-traces.ts'
import { coded } from './coded.ts'

/** One request of `web`, which calls `db`, on these hosts. */
function served(webHost: string, dbHost: string, trace = 't'): SpanSketch[] {
  return [
    { id: 'web', trace, host: webHost, startUs: 0, endUs: 10 },
    { id: 'db', trace, host: dbHost, parent: 'web', startUs: 1, endUs: 9 },
  ]
}

describe('hosts-differ', () => {
  test('names only the services none of whose hosts stayed', () => {
    const found = coded('hosts-differ', served('web-1', 'db-1'), served('web-1', 'db-7'))
    expect(found.map(({ message }) => message)).toEqual([
      'db: all hosts changed between the periods.',
    ])
    expect(found[0]?.detail).toBe(
      'Every request through them looks like a new structure. ' +
        'Leave hosts out of labels with `omitHosts: true`.',
    )
  })

  test('silent when hosts are left out', () => {
    const options = { omitHosts: true }
    expect(
      coded('hosts-differ', served('web-1', 'db-1'), served('web-1', 'db-7'), options),
    ).toEqual([])
  })

  test('silent when a service keeps one of its hosts', () => {
    const before = [...served('web-1', 'db-1', 't0'), ...served('web-1', 'db-2', 't1')]
    expect(coded('hosts-differ', before, served('web-1', 'db-2'))).toEqual([])
  })
})
