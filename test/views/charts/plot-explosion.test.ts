import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { findHostClasses } from '../../../src/compare/hosts/host-classes.ts'
import { diagnoseExplosion } from '../../../src/explain/explosion/diagnose-explosion.ts'
import { expectedCategoryCurves } from '../../../src/explain/explosion/expected-categories.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { explosionChart } from '../../../src/views/charts/explosion.ts'
import { hostClassesChart } from '../../../src/views/charts/host-classes.ts'
import { plot } from '../../../src/views/plot.ts'
import { makeSpans } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { dataOf, expectDrawable, pick, type Row } from './fixture.ts'

/** Requests that read from one random host each; the first few are three times as slow. */
function reads({ hosts = 12, requests = 1200, slow = 3, suffix = '' } = {}) {
  const random = randomSource(1)
  const spans = Array.from({ length: requests }, (_, i) => {
    const host = Math.floor(random.next() * hosts)
    const tookUs = -100 * Math.log(1 - random.next()) * (host < slow ? 3 : 1)
    const trace = `t${i}`
    const where = `node${String(host).padStart(2, '0')}${suffix}`
    return [
      { trace, id: 'web', startUs: 0, endUs: tookUs + 20 },
      { trace, id: 'read', parent: 'web', host: where, startUs: 10, endUs: tookUs + 10 },
    ]
  })
  return buildFlows(makeSpans(spans.flat()))
}

describe('expected categories', () => {
  test('are curves with bands, and what was observed is told from chance', () => {
    const chart = plot(expectedCategoryCurves({ hosts: [10], requests: [1, 1000] }), 'expected', {
      observed: [
        { hosts: 10, requests: 139, categories: 132, name: 'rand sort' },
        { hosts: 50, requests: 5000, categories: 4000, name: HOSTILE },
      ],
    })
    const [bands, lines, outside, points] = dataOf(chart)
    expect(pick(bands, 'hosts', 'requests', 'expected').sort()).toEqual(
      pick(lines, 'hosts', 'requests', 'expected').sort(),
    )
    expect(pick(points, 'hosts', 'categories', 'expected')).toEqual([
      ['10 hosts', 132, '126 ± 3.1'],
      ['50 hosts', 4000, '4,895 ± 10'],
    ])
    expect(pick(outside, 'categories')).toEqual([[4000]])
    expect(chart.description).toContain('rand sort, 10 hosts: 132 categories of 139 requests')
    expect(chart.description).toContain('expected 126 ± 3.1: as expected by chance.')
    for (const row of bands as (Row & { low: number; expected: number; high: number })[]) {
      expect(row.low).toBeLessThanOrEqual(row.expected)
      expect(row.high).toBeGreaterThanOrEqual(row.expected)
    }
    expect(expectDrawable(chart)).not.toContain('<img')
  })

  test('where the number cannot vary, one of it is as expected by chance', () => {
    const chart = plot(expectedCategoryCurves({ hosts: [1], replicas: 1 }), 'expected', {
      observed: [{ hosts: 1, requests: 20, categories: 1 }],
    })
    expect(chart.description).toContain('expected 1 ± 0: as expected by chance.')
    expectDrawable(chart)
  })

  test('take one to eight sizes of cluster', () => {
    expect(() => plot(expectedCategoryCurves({ hosts: [] }))).toThrow('one to 8 cluster sizes')
    expect(() => plot(expectedCategoryCurves({ hosts: [3, 4, 5, 6, 7, 8, 9, 10, 11] }))).toThrow(
      'one to 8 cluster sizes',
    )
    expectDrawable(plot(expectedCategoryCurves({ hosts: [3, 4, 5, 6, 7, 8, 9, 10] })))
    const none = [{ hosts: 10, requests: 0, categories: 0 }]
    expect(() => plot(expectedCategoryCurves(), 'expected', { observed: none })).toThrow(
      'observed.requests is 0',
    )
    expect(() => plot(expectedCategoryCurves({ replicas: 20 }))).toThrow('Option replicas is 20.')
  })
})

describe('host classes', () => {
  test('are blocks of a square in which most pairs are alike', () => {
    const chart = hostClassesChart(findHostClasses(reads()))
    const [cells = [], frames, names] = dataOf(chart)
    expect(cells.length).toBe(12 * 11)
    expect(pick(frames, 'first', 'last')).toEqual([
      ['node03', 'node11'],
      ['node00', 'node02'],
    ])
    expect(pick(names, 'middle', 'name')).toEqual([
      ['node07', 'node* 1, 0.97× the typical time'],
      ['node01', 'node* 2, 3.5× the typical time'],
    ])
    const svg = expectDrawable(chart)
    // Rows and columns have names, and shades a scale.
    for (const text of ['node05', 'node02']) expect(svg.split(`>${text}<`).length - 1).toBe(2)
    expect(svg).toContain('times apart (KS statistic)')
    const slow = (name: unknown) => ['node00', 'node01', 'node02'].includes(name as string)
    const across = cells.filter(({ host, other }) => slow(host) !== slow(other))
    const differ = across.filter(({ kind }) => kind === 'differ').length
    expect(differ / across.length).toBeGreaterThan(0.8)
    expect(chart.description).toContain('12 hosts in 2 classes')
  })

  test('too thin for names of hosts have those of classes that have room', () => {
    const chart = hostClassesChart(findHostClasses(reads({ hosts: 60, requests: 6000, slow: 1 })))
    const [, , names] = dataOf(chart)
    expect(pick(names, 'name')).toEqual([
      ['node*, 0.99× the typical time'],
      ['node00, 2.8× the typical time'],
    ])
    expect(expectDrawable(chart)).not.toContain('>node05<')
  })

  test('of more hosts than the limit are drawn in part, and the chart says so', () => {
    const chart = hostClassesChart(findHostClasses(reads()), { limit: 4 })
    expect(chart.description).toContain('Shows 4 hosts of 12, some of every class.')
    expectDrawable(chart)
    expect(() => hostClassesChart(findHostClasses(reads()), { limit: 1 })).toThrow('limit is 1.')
  })

  test('with too few spans are not compared, and there may be none', () => {
    const chart = hostClassesChart(findHostClasses(reads({ requests: 20, suffix: HOSTILE })))
    expect(pick(dataOf(chart)[0], 'kind')[0]?.[0]).toMatch(/^not compared/)
    expect(expectDrawable(chart)).not.toContain('<img')
    expectDrawable(hostClassesChart(findHostClasses(reads({ requests: 0 }))))
  })
})

describe('an explosion', () => {
  test('is what each remedy does to it, the best first below things as they are', () => {
    const diagnosis = diagnoseExplosion(categorize(reads({ hosts: 40, requests: 400 })))
    const chart = explosionChart(diagnosis)
    const rows = dataOf(chart)[0] ?? []
    expect(rows.map(({ label }) => label)).toEqual([
      'as it is',
      ...diagnosis.remedies.map(({ remedy }) => remedy),
    ])
    expect(rows[0]).toMatchObject({ categories: 40, perCategory: 10, isNow: true })
    const omitted = rows.find(({ label }) => label === 'omit hosts')
    expect(omitted).toMatchObject({ categories: 1, perCategory: 400, testable: 1 })
    expect(omitted?.['code']).toBe('omitHosts: true')
    expect(chart.description).toMatch(/^400 requests are in 40 categories, [^.]+\. Not tried: /)
    expectDrawable(chart)
  })

  test('of no request is empty', () => {
    const chart = explosionChart(diagnoseExplosion(categorize(reads({ requests: 0 }))))
    expect(dataOf(chart)[0]).toEqual([])
    expectDrawable(chart)
  })
})
