import { describe, expect, test } from 'vitest'
import type { AttentionGraph } from '../../../src/logs/attention/focus-attention.ts'
import { compareLogs, type LogComparison } from '../../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../../src/logs/features/log-builder.ts'
import type { Chart } from '../../../src/views/charts/chart.ts'
import { divergenceChart } from '../../../src/views/charts/divergence.ts'
import { plot } from '../../../src/views/plot.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { dataOf, EXPRESSIONS, expectDrawable, partsOf, pick } from './fixture.ts'
import { compareChainedLogs } from './logs-fixture.ts'

const compared = compareChainedLogs()

describe('divergence', () => {
  test('has a bar a variable that differs, the longest first, and what differs most beside it', () => {
    const chart = divergenceChart(compared.divergence)
    const [bars] = dataOf(chart)
    const scores = bars?.map(({ score }) => score as number) ?? []
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    expect(bars?.map(({ full }) => full)).not.toContain('heap')
    expect(bars?.find(({ full }) => full === 'cache_kb')).toMatchObject({
      direction: 'earlier, fewer or smaller after',
      kind: 'state',
    })
    expect(chart.title).toBe('What differs between 40 instances before and 40 after')
    expect(chart.description).toMatch(/^\d variables of 7 differ significantly \(Welch's t, 5 %/)
    expectDrawable(chart)
  })

  test('of one kind, and of the first few', () => {
    const chart = divergenceChart(compared.divergence, { kind: 'event', limit: 2 })
    expect(pick(dataOf(chart)[0], 'kind')).toEqual([['event'], ['event']])
    expect(chart.description).toContain('Shows the 2 most divergent.')
    expectDrawable(chart)
  })

  test('says so where nothing differs', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 6; i++) {
      builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
      builder.logState(0, 'same', 1)
    }
    const chart = divergenceChart(compareLogs(builder.build()).divergence)
    expect(chart.description).toContain('None of 1 variable differs significantly')
    expectDrawable(chart)
  })

  test('constants that differ have the longest bar and an infinite sum', () => {
    const chart = divergenceChart(constants().divergence)
    expect(dataOf(chart)[0]?.[0]).toMatchObject({ full: 'version', sum: '∞' })
    expectDrawable(chart)
    expectDrawable(plot(constants().divergence, 'variable', { name: 'version' }))
  })

  test('checks its options', () => {
    const { divergence } = compared
    expect(() => divergenceChart(divergence, { limit: 0 })).toThrow('Option limit is 0.')
    expect(() => divergenceChart(divergence, { kind: 'log' as never })).toThrow(
      "'event' or 'state'",
    )
    expect(() => divergenceChart(divergence, { top: 3 } as never)).toThrow('no option top')
  })
})

/** A state that is 1 in all before instances and 2 in all after ones. */
function constants(): LogComparison {
  const builder = new LogBuilder()
  for (let i = 0; i < 40; i++) {
    builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
    builder.logState(0, 'version', i % 2 ? 1 : 2)
    if (i === 0) builder.logState(0, 'rare', 7)
  }
  return compareLogs(builder.build())
}

describe('a variable', () => {
  test('has a strip a feature, the largest |t| first, with a dot an instance and both means', () => {
    const chart = plot(compared.divergence, 'variable', { name: 'flush' })
    const [dots, means] = dataOf(chart)
    expect(dots?.length).toBe(80)
    expect(means?.map((mean) => mean['period'])).toEqual(['before', 'after'])
    const ts = titlesOf(chart).map((title) => Math.abs(Number(/t = (−?[\d.]+)/.exec(title)?.[1])))
    expect(ts).toEqual([...ts].sort((a, b) => b - a))
    expect(chart.description).toBe(
      'A dot is an instance (40 before, 40 after), the line the mean. Shows the 4 of 7 features that differ most.',
    )
    expectDrawable(chart)
  })

  test('of every name and feature can be drawn', { tags: 'full' }, () => {
    for (const { name, kind } of compared.divergence.variables) {
      expectDrawable(plot(compared.divergence, 'variable', { name, kind, limit: 10 }))
    }
  })

  test('can be one feature alone', () => {
    const chart = plot(compared.divergence, 'variable', { name: 'cache_kb', feature: 'mean' })
    expect(titlesOf(chart)).toEqual([expect.stringMatching(/^mean value: t = −\d/)])
  })

  test('has the unit that its name says', () => {
    const axisOf = (cache: string) => {
      const { divergence } = compareChainedLogs({ cache })
      const chart = plot(divergence, 'variable', { name: cache, feature: 'mean' })
      const axes = partsOf(chart.spec).flatMap(([key, part]) => (key === 'x' ? [part] : []))
      const [{ axis }] = axes as [{ axis: { title: string | null; labelExpr: string } }]
      return { ...axis, most: Math.max(...pick(dataOf(chart)[0], 'value').flat().map(Number)) }
    }
    expect(axisOf('cache_kb')).toMatchObject({ title: 'KB' })
    const inMs = axisOf('cache_ms')
    expect(inMs.title).toBe(null)
    expect(inMs.labelExpr).toContain("' s'")
    expect(inMs.most).toBeCloseTo(1000 * axisOf('cache_kb').most)
  })

  test('says how many instances do not have it', () => {
    const [title] = titlesOf(
      plot(constants().divergence, 'variable', { name: 'rare', feature: 'mean' }),
    )
    expect(title).toBe(
      'mean value: too few instances to test; 20 of 20 before have none, 19 of 20 after have none',
    )
  })

  test('of very many instances draws some of them, and says so', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 3_000; i++) {
      builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
      builder.logState(0, 'load', i)
    }
    const { divergence } = compareLogs(builder.build())
    const chart = plot(divergence, 'variable', { name: 'load', feature: 'mean' })
    expect(dataOf(chart)[0]?.length).toBe(1_200)
    expect(chart.description).toContain('Draws at most 600 dots of each period')
    expectDrawable(chart)
  })

  test('checks its options', () => {
    const { divergence } = compared
    expect(() => plot(divergence, 'variable', { name: 'flash' })).toThrow(
      'The logs have no variable "flash".',
    )
    expect(() => plot(divergence, 'variable', { name: 'flush', feature: 'mean' })).toThrow(
      'Option feature is "mean".',
    )
    expect(() => plot(divergence, 'variable', { name: 'flush', limit: 0 })).toThrow(
      'Option limit is 0.',
    )
  })
})

function titlesOf({ spec }: Chart): string[] {
  const views = spec['vconcat'] as readonly { title: { text: string } }[]
  return views.map(({ title }) => title.text)
}

test('names from logs are data only', () => {
  const expression = `'+datum.constructor('alert(1)')()+'`
  const hostile = compareChainedLogs({
    flush: HOSTILE,
    write: expression,
    finish: '‮txt',
    cache: '__proto__',
  })
  const best = (kind: 'event' | 'state') => hostile.attention.best(kind) as AttentionGraph
  const charts = [
    plot(best('event')),
    plot(best('state')),
    divergenceChart(hostile.divergence),
    ...hostile.divergence.variables.map(({ name }) =>
      plot(hostile.divergence, 'variable', { name }),
    ),
  ]
  for (const chart of charts) {
    for (const [key, value] of partsOf('spec' in chart ? chart.spec : {})) {
      const isExpression = EXPRESSIONS.includes(key)
      if (isExpression && typeof value === 'string') expect(value).not.toMatch(/alert|constructor/)
    }
    const svg = expectDrawable(chart)
    expect(svg).not.toMatch(/<img|<script|‮/)
  }
})
