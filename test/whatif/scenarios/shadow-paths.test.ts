import { expect, test } from 'vitest'
import { indexCalls } from '../../../src/calls/call-forest.ts'
import { shadowPaths } from '../../../src/whatif/scenarios/candidate-context.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** A handler beside the call that it awaits, as reactive gateways record themselves. */
function gateway(i: number, handler: Partial<SpanSketch> = {}): SpanSketch[] {
  const trace = `t${i}`
  return [
    { trace, id: 'gateway', startUs: 0, endUs: 100_000 },
    ...[{ trace, id: 'handle', parent: 'gateway', service: 'gateway', operation: 'handle' }].map(
      (span) => ({ ...span, startUs: 500, endUs: 99_000, ...handler }),
    ),
    { trace, id: 'out', parent: 'gateway', service: 'gateway', startUs: 1500, endUs: 99_500 },
    { trace, id: 'travel', parent: 'out', startUs: 3000, endUs: 98_000 },
  ]
}

function shadows(spans: readonly SpanSketch[]): string[] {
  const { paths, forests } = indexCalls([makeSpans(spans)])
  const [forest] = forests
  if (forest === undefined) throw new Error('no forest')
  return [...shadowPaths(forest, paths)].map((path) => paths.text(path))
}

test('a step that begins and ends with a call beside it is a shadow', () => {
  expect(shadows(gateway(0))).toEqual(['gateway call › gateway handle'])
})

test('a step that ends earlier is work of its own', () => {
  expect(shadows(gateway(0, { endUs: 60_000 }))).toEqual([])
})

test('nine of ten must be', () => {
  const most = Array.from({ length: 9 }, (_, i) => gateway(i)).flat()
  expect(shadows([...most, ...gateway(9, { endUs: 60_000 })])).toHaveLength(1)
  expect(shadows([...gateway(0), ...gateway(1, { endUs: 60_000 })])).toEqual([])
})

test('calls to other services, and steps beside each other that call nothing, are none', () => {
  expect(shadows(gateway(0, { service: 'auth' }))).toEqual([])
  const steps = ['a', 'b'].map((id) => ({
    id,
    parent: 'web',
    service: 'web',
    operation: id,
    startUs: 0,
    endUs: 100,
  }))
  expect(shadows([{ id: 'web', startUs: 0, endUs: 100 }, ...steps])).toEqual([])
})
