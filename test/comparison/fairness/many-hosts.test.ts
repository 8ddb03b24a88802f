import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { reportMarkdown } from '../../../src/views/report/report.ts'
import { comparisonText } from '../../../src/views/text/comparison-text.ts'
import { call, record } from '../../worlds.ts'

const CALLED = ['a', 'b', 'c', 'd', 'e']

/** Requests that call five services, each on one of five hosts: hardly two are of one category. */
function period({
  seed,
  pods = 'pod',
  slowUs = 0,
}: {
  seed: number
  pods?: string
  slowUs?: number
}) {
  return record({ seed, everyUs: 1e5 }, (r) => {
    const on = (service: string) => ({ host: `${service}-${pods}-${r.integer(5)}` })
    const calls = CALLED.map((service) => {
      const us = 1000 * (0.5 + r.next()) + (service === 'c' ? slowUs : 0)
      return call(`${service} GET`, us, on(service))
    })
    return call('web GET', 1000, on('web'), calls)
  })
}

describe('of requests spread over so many hosts that no category has enough of them', () => {
  test('what the tests of steps could have seen is told, also if all hosts are other ones', () => {
    const { findings } = compare(period({ seed: 1 }), period({ seed: 2, pods: 'new' }))
    expect(findings.findings).toEqual([])
    expect(findings.testable).toBe(true)
    expect(findings.text()).toMatch(
      /^No significant change\. With 300 requests before, 300 after, changes under \d+ µs may be missed\./,
    )
  })

  test('that no two requests ran on the same hosts is no other order of calls', () => {
    const comparison = compare(
      [period({ seed: 1 }), period({ seed: 3, pods: 'other' })],
      period({ seed: 2, pods: 'new' }),
    )
    const codes = comparison.warnings().map(({ code }) => code)
    expect(codes).toEqual(expect.arrayContaining(['hosts-differ', 'small-periods']))
    expect(codes).not.toContain('nothing-in-common')
  })

  test('the warning names what makes categories large enough, and does not say that nothing was tested', () => {
    const comparison = compare(period({ seed: 1 }), period({ seed: 2, slowUs: 1000 }))
    expect(comparison.findings.findings[0]?.title).toContain('c: GET')
    const warnings = comparison.warnings().filter(({ code }) => code === 'small-periods')
    expect(warnings).toMatchObject([{ advice: { omitHosts: true } }])
    expect(warnings[0]?.finding).toMatch(
      /^No category has enough requests in both periods: 300 requests before and 300 after are spread over \d+ categories \(1 without hosts\)\.$/,
    )
    expect(warnings[0]?.effect).toBe(
      'Steps are still compared over all categories, but single categories are not ranked.',
    )
    expect(comparison.with({ omitHosts: true }).warnings()).toEqual([])
  })

  test('what people read ends with the flag as a hint, and has no warning before the findings', () => {
    const comparison = compare(period({ seed: 1 }), period({ seed: 2, slowUs: 1000 }))
    const text = (of: typeof comparison) =>
      comparisonText({ comparison: of, limit: 9, explained: null }, { verbose: false })
    expect(text(comparison)).not.toContain('small-periods')
    expect(text(comparison)).toMatch(
      /#1 .*c: GET[\s\S]*\nMore: --verbose \(warnings in full\), --finding \S+ \(#1 with its traces\), --omit-hosts\s+\(hosts\s+left\s+out:\s+fewer\s+and\s+larger\s+categories\)\.$/,
    )
    expect(text(comparison.with({ omitHosts: true }))).not.toContain('--omit-hosts')
    expect(reportMarkdown(comparison)).not.toContain('[!WARNING]')
  })
})
