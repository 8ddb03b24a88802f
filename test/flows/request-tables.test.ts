import { fsum } from 'd3-array'
import { expect, test } from 'vitest'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { categorize, compare } from '../../src/index.ts'
import { makeGraphs, makeSpans } from '../make-traces.ts'

/** `web` calls `db` in the first and third request; `tenant` is that of `web`, `rows` that of `db`. */
function recorded(tenants: readonly string[], period: string) {
  return makeSpans(
    tenants.flatMap((tenant, i) => {
      const trace = `${period}${i}`
      const attributes = { tenant, root: i, ...(i === 1 && { cached: true }) }
      const root = {
        trace,
        id: 'r',
        service: 'web',
        operation: 'GET',
        startUs: i * 100,
        attributes,
      }
      const call = { trace, id: 'd', parent: 'r', service: 'db', operation: 'SELECT' }
      const times = { startUs: i * 100 + 10, endUs: i * 100 + 20 }
      const calls = i === 1 ? [] : [{ ...call, ...times, attributes: { rows: 7 } }]
      return [{ ...root, endUs: i * 100 + 50 }, ...calls]
    }),
    period,
  )
}

const BEFORE = recorded(['acme', 'globex', 'acme'], 'before')
const AFTER = recorded(['initech'], 'after')

test('the table of flows has a column for each attribute that roots recorded', () => {
  const flows = buildFlows([BEFORE, AFTER]).table()
  expect(flows.array('tenant')).toEqual(['acme', 'globex', 'acme', 'initech'])
  expect(flows.array('cached')).toEqual([undefined, true, undefined, undefined])
  expect(flows.columnNames()).not.toContain('rows')
})

test('an attribute with the name of a column of flows keeps both', () => {
  const flows = buildFlows(BEFORE).table()
  expect(flows.array('attributes.root')).toEqual([0, 1, 2])
  expect(new Set(flows.array('root'))).toEqual(new Set(['web GET call']))
})

test('the table of requests has the category of each, whatever makes categories', () => {
  const flows = buildFlows([BEFORE, AFTER])
  expect(categorize(flows).requestTable().array('category')).toEqual([0, 1, 0, 0])
  const alike = categorize(flows, { label: ({ phase }) => phase })
  const requests = alike.requestTable()
  expect(requests.array('category')).toEqual(Array.from(alike.categoryOf))
  const byTenant = requests
    .filter((row) => row['category'] === 0)
    .groupby('tenant')
    .count()
  expect(byTenant.objects()).toEqual([
    { tenant: 'acme', count: 2 },
    { tenant: 'initech', count: 1 },
  ])
})

const GRAPHS = makeGraphs([
  {
    labels: ['m1__t__READ', 'm2__t__DISK', 'm1__t__REPLY'],
    edges: [
      [0, 1],
      [1, 2],
    ],
    latencyUs: [5, 9],
    attributes: { size: 4096, host: 'mine' },
  },
  { labels: ['start', 'end'], edges: [[0, 1]], latencyUs: [3] },
])

test('what roots of trace points recorded is a column of their flows', () => {
  const flows = buildFlows(GRAPHS).table()
  expect(flows.array('size')).toEqual([4096, undefined])
})

test('the account is a table whose columns add up', () => {
  const { account } = compare(BEFORE, AFTER)
  const table = account.table()
  expect(table.columnNames().slice(-4)).toEqual(['beforeUs', 'afterUs', 'changeUs', 'share'])
  const sum = (name: string) => fsum(table.array(name) as number[])
  expect(sum('changeUs')).toBeCloseTo(sum('afterUs') - sum('beforeUs'), 9)
})

test('edges of a category have the standard deviations of both periods', () => {
  const { responseTime } = compare(BEFORE, BEFORE.where('tenant = acme'))
  const names = responseTime.edgeTable(0).columnNames()
  expect(names).toEqual(expect.arrayContaining(['beforeSdUs', 'afterSdUs']))
})
