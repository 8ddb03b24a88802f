import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { explain } from '../../../src/explain/parameters/explain.ts'
import { describeWithShared } from '../../shared.ts'
import { paperCase, period, some } from './sketches.ts'

/** Everything that a comparison names: findings, where to look, where time is spent. */
function named({ findings, account }: Comparison): string {
  return [
    findings.text(),
    ...findings.findings.flatMap(({ services }) => services),
    ...account.steps.flatMap(({ service, operation }) => [service, operation]),
  ].join('\n')
}

describeWithShared('block writes through pipelines, of which one disk is slow', () => {
  test('no host is named where hosts are left out, and the slow one is found by asking why', async () => {
    const comparison = compare(...(await paperCase('omit-hosts')), { omitHosts: true })
    const [finding] = comparison.findings.findings
    expect(finding?.title).toMatch(/^RECEIVE DEFAULT → WRITE DEFAULT: takes .* longer$/)
    expect(named(comparison)).not.toMatch(/\bdn\d|\bnn/)
    expect(explain(comparison, finding as never).text()).toContain(
      'Where RECEIVE DEFAULT · host is dn03, calls are slow',
    )
  })

  test('classes of hosts put the slow one apart', async () => {
    const comparison = compare(...(await paperCase('omit-hosts')), { hostClasses: true })
    expect(comparison.categories.size).toBeLessThan(10)
    const [finding] = comparison.findings.findings
    expect(finding?.services).toEqual(['dn03__datanode'])
    expect(finding?.shareOfChange).toBeGreaterThan(0.9)
  })
})

/** Requests of a front end that ask one of six stores, of which one may be slow. */
const asks = (slow: number, seed: number) =>
  period(
    some(300, (i) => {
      const store = `st${(i * 5) % 6}`
      const us = (i * 5) % 6 === slow ? 900 : 300
      return {
        steps: [
          ['web0__main__ASK', 0],
          [`${store}__disk__BEGIN`, 40],
          [`${store}__disk__END`, us],
          ['web0__main__ANSWER', 40],
        ],
      }
    }),
    seed,
  )

describe('one of six stores is slow', () => {
  const [before, after] = [asks(-1, 1), asks(4, 2)]

  test('no store is named without hosts; steps say where the time goes, and add up to it', () => {
    const comparison = compare(before, after, { omitHosts: true })
    expect(named(comparison)).not.toMatch(/st\d|web\d/)
    const { steps } = comparison.account
    expect(steps[0]).toMatchObject({ service: '', operation: 'BEGIN → END', kind: 'work' })
    const us = steps.reduce((sum, { beforeUs, afterUs }) => sum + afterUs - beforeUs, 0)
    expect(us * 300).toBeCloseTo(comparison.findings.observedChangeUs, 3)
  })

  test('the host is a parameter of each step', () => {
    const comparison = compare(before, after, { omitHosts: true })
    const [edge] = comparison.edges.significant
    const explanation = explain(comparison, edge as never)
    expect(explanation.paths[0]?.conditions).toMatchObject([
      { column: 'BEGIN · host', levels: ['st4'] },
    ])
  })

  test('classes name the slow store alone, and those that are alike together', () => {
    const comparison = compare(before, after, { hostClasses: true })
    expect(comparison.categories.size).toBe(2)
    expect(named(comparison)).toContain('st4__disk')
    expect(compare(before, after, { hostClasses: true, omitHosts: true }).categories.size).toBe(1)
  })
})

test('with two slow stores of other names, folded rounds name no host either', () => {
  const rounds = (slow: readonly number[], seed: number) =>
    period(
      some(200, (i) => ({
        steps: [
          ['gw__main__PUT', 0],
          ...some(3, (round) => {
            const host = (i + 2 * round) % 5
            return [
              [`rack${host}__t${round}__COPY`, 20] as const,
              [`rack${host}__t${round}__SYNC`, slow.includes(host) ? 400 : 100] as const,
            ]
          }).flat(),
          ['gw__main__OK', 5],
        ],
      })),
      seed,
    )
  const comparison = compare(rounds([], 1), rounds([1, 3], 2), { omitHosts: true, fold: 'exact' })
  expect(comparison.findings.findings[0]?.title).toMatch(/^COPY → SYNC: takes .* longer$/)
  expect(named(comparison)).not.toMatch(/rack\d|work of ,|gw/)
})
