import { describe, expect, test } from 'vitest'
import { compareLogs } from '../../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../../src/logs/features/log-builder.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  graphCode,
  type LogsData,
  leftOutText,
  restoreLogs,
} from '../../../src/views/widgets/logs/logs-widget.tsx'
import { compareChainedLogs } from '../charts/logs-fixture.ts'

const compared = compareChainedLogs()

/** What a page gets. */
const sent = (widget = explore(compared)) =>
  restoreLogs((JSON.parse(JSON.stringify(widget.data)) as { readonly data: LogsData }).data)

/** Equal in the digits that are sent. */
function expectNear(value: number, expected = Number.NaN): void {
  if (Number.isNaN(expected)) expect(value).toBeNaN()
  else expect(Math.abs(value - expected)).toBeLessThanOrEqual(Math.abs(expected) * 1e-4)
}

describe('in a page', () => {
  test.each(['before', 'after'] as const)('graphs of %s are those of with()', (logClass) => {
    const graphs = sent().graphs.filter((graph) => graph.class === logClass)
    const expected = compared.with({ class: logClass }).attention.graphs
    expect(graphs).toEqual(expected)
    expect(expected.some(({ edges }) => edges.length > 0)).toBe(true)
  })

  test('what differs is what differs, with its tests and where it was logged', () => {
    const { divergence } = sent()
    for (const { kind, name, score, presence, features } of divergence.variables) {
      const own = compared.divergence.variable(kind, name)
      expect([score, presence.onlyIn]).toEqual([own?.score, own?.presence.onlyIn])
      expect(features.map(({ t }) => t)).toEqual(own?.features.map(({ t }) => t))
      for (const [i, { p }] of features.entries()) {
        expectNear(p, own?.features[i]?.p)
      }
    }
  })

  test('constants that differ arrive as infinitely far apart', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 20; i++) {
      builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
      builder.logState(0, 'version', i % 2 ? 1 : 2)
      builder.logEvent(0, 'start')
      builder.logEvent(1000 + (i % 2 ? 0 : 500) + i, 'end')
    }
    const constant = compareLogs(builder.build(), { metric: 'end' })
    const { divergence } = sent(explore(constant))
    expect(divergence.variable('state', 'version')?.score).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('what is carried', () => {
  test('is the values of every variable, where there is room', () => {
    const { divergence, instances, hasValues } = sent()
    const { events } = divergence.logs
    expect(instances.length).toBe(80)
    expect(hasValues('event', 'flush')).toBe(true)
    const column = events.of(events.indexOf('flush') as number, 'lastAbsolute')
    const own = compared.logs.events.of(
      compared.logs.events.indexOf('flush') as number,
      'lastAbsolute',
    )
    expect(column.length).toBe(own.length)
    for (const [i, value] of column.entries()) expectNear(value, own[i])
    expect(leftOutText(sent()).join(' ')).toMatch(/^2 variables are not in the page: [^.]+\.$/)
  })

  test('is bounded, and what is left out is said', () => {
    const many = compareMany({ instances: 500, variables: 60 })
    const widget = explore(many)
    const data = sent(widget)
    expect(data.instances.length).toBe(400)
    const withValues = data.variables.filter(({ kind, name }) => data.hasValues(kind, name))
    expect(withValues.length).toBe(35)
    expect(JSON.stringify(widget.data).length).toBeLessThan(1_200_000)
    const said = leftOutText(data).join(' ')
    expect(said).toContain('Values are here of 35 of 59 variables.')
    expect(said).toContain('Dots are 400 of 500 instances, evenly by performance.')
  }, 60_000)

  test('says how many instances taught nothing', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 40; i++) {
      builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
      builder.logEvent(0, 'start')
      if (i > 3) builder.logEvent(1000 + i, 'end')
    }
    const data = sent(explore(compareLogs(builder.build(), { metric: 'end' })))
    expect(leftOutText(data).at(-1)).toBe('4 instances without end taught no dependency.')
  })

  test('logs without any difference, or without events, can be shown', () => {
    const builder = new LogBuilder()
    for (let i = 0; i < 12; i++) {
      builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
      builder.logState(i, 'same', 1)
    }
    const widget = explore(compareLogs(builder.build()))
    expect(sent(widget).graphs.filter((graph) => graph.class === 'after').length).toBe(10)
    expect(widget.svg()).toContain('<svg')
  })
})

/** Events that all follow each other. */
function compareMany({ instances, variables }: { instances: number; variables: number }) {
  const builder = new LogBuilder()
  for (let i = 0; i < instances; i++) {
    builder.setInstance(i % 2 ? 'before' : 'after', `n${i}`)
    builder.logEvent(0, 'start')
    for (let v = 1; v < variables; v++) {
      builder.logEvent(v * 1000 + (i % 2 ? 0 : 300) + ((i * (v + 7)) % 401), `event ${v}`)
    }
  }
  return compareLogs(builder.build())
}

describe('code', () => {
  const state = { kind: 'event', feature: null, class: 'after' } as const

  test('says only what was changed', () => {
    expect(graphCode('compared', state, 'after')).toBe("compared.attention.best('event')")
    expect(graphCode('compared', { ...state, kind: 'state' }, 'before')).toBe(
      "compared.with({ class: 'after' }).attention.best('state')",
    )
  })

  test('gives the graph that is shown', () => {
    const code = graphCode('compared', { ...state, class: 'before', feature: 'count' }, 'after')
    expect(code).toBe(
      "compared.with({ class: 'before' }).attention.of('event').find((graph) => graph.featureType === 'count')",
    )
    const found = new Function('compared', `return ${code}`)(compared)
    expect(found).toMatchObject({ class: 'before', featureType: 'count' })
  })
})

test('options are checked', () => {
  expect(() => explore(compared, { kind: 'log' as never })).toThrow('Option kind is "log".')
  expect(() => explore(compared, { feature: 'mean' })).toThrow('Option feature is "mean".')
  expect(() => explore(compared, { variable: 'flash' })).toThrow('no event "flash"')
  expect(() => explore(compared, { top: 1 } as never)).toThrow('no option top')
  expect(() => explore(compared.logs as never)).toThrow('explore has no widget for a LogSet')
})
