import { describe, expect, test } from 'vitest'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../../src/whatif/scenarios/apply-scenario.ts'
import { combineScenarios, scaleCalls } from '../../../src/whatif/scenarios/parse-scenario.ts'
import type { Scenario } from '../../../src/whatif/scenarios/scenario.ts'
import { makeSpans } from '../../make-traces.ts'

/** web does 10, calls cart (20 there and back, 50 in it), does 10, calls price (10, 30), does 20. */
function oneRequest(): SpanTraces {
  const at = (startUs: number, endUs: number) => ({ startUs, endUs })
  return makeSpans([
    { id: 'web', ...at(0, 150), kind: 'server' },
    { id: 'to cart', parent: 'web', service: 'web', ...at(10, 80), kind: 'client' },
    { id: 'cart', parent: 'to cart', ...at(20, 70), kind: 'server', operation: 'list' },
    { id: 'step', parent: 'cart', service: 'cart', ...at(30, 60) },
    { id: 'to price', parent: 'web', service: 'web', ...at(90, 130), kind: 'client' },
    { id: 'price', parent: 'to price', ...at(95, 125), kind: 'server' },
  ])
}

const timeUnder = (scenario: Scenario) =>
  applyScenario(learnExecutionModels(oneRequest()), scenario).profile.latencyUs[0]

describe('scaleCalls changes every call to a service', () => {
  test('its server time', () => {
    expect(timeUnder(scaleCalls({ service: 'cart', factor: 0.5 }))).toBe(125)
    expect(timeUnder(scaleCalls({ service: 'price', addUs: 7 }))).toBe(157)
  })

  test('a service that calls itself counts once, as a whole', () => {
    expect(timeUnder(scaleCalls({ service: 'cart', factor: 2 }))).toBe(200)
  })

  test('the network to it, there and back', () => {
    expect(timeUnder(scaleCalls({ service: 'cart', part: 'network', factor: 3 }))).toBe(190)
    expect(timeUnder(scaleCalls({ service: 'price', part: 'network', addUs: -4 }))).toBe(146)
  })

  test('what it does itself, before and after each of its calls', () => {
    expect(timeUnder(scaleCalls({ service: 'web', part: 'preprocessing', factor: 0 }))).toBe(110)
    expect(timeUnder(scaleCalls({ service: 'web', part: 'preprocessing', addUs: 1 }))).toBe(153)
  })

  test('one of its operations', () => {
    expect(timeUnder(scaleCalls({ service: 'cart', operation: 'list', factor: 0 }))).toBe(100)
  })

  test('nothing gets shorter than 0', () => {
    expect(timeUnder(scaleCalls({ service: 'cart', addUs: -1000 }))).toBe(100)
  })

  test('factor 1 and 0 µs more leave the recorded time', () => {
    for (const part of ['server', 'network', 'preprocessing'] as const) {
      expect(timeUnder(scaleCalls({ service: 'cart', part, factor: 1 }))).toBe(150)
      expect(timeUnder(scaleCalls({ service: 'cart', part, addUs: 0 }))).toBe(150)
    }
  })
})

describe('scaleCalls says what is wrong', () => {
  test('a service or an operation that there is not, and which there are', () => {
    expect(() => timeUnder(scaleCalls({ service: 'crat', factor: 2 }))).toThrow(
      'Option service is "crat". Give one of cart, price, web.',
    )
    const wrong = scaleCalls({ service: 'cart', operation: 'lst', factor: 2 })
    expect(() => timeUnder(wrong)).toThrow(
      'Option operation is "lst". Give one of call, list, which cart has.',
    )
  })

  test('sizes that are none, or two', () => {
    expect(() => scaleCalls({ service: 'a', factor: -1 })).toThrow('Option factor is -1')
    expect(() => scaleCalls({ service: 'a', factor: '2' as unknown as number })).toThrow(
      'Option factor is "2"',
    )
    expect(() => scaleCalls({ service: 'a', addUs: Number.NaN })).toThrow('Option addUs is NaN')
    expect(() => scaleCalls({ service: 'a' })).toThrow('Give either factor or addUs.')
    expect(() => scaleCalls({ service: 'a', factor: 1, addUs: 1 })).toThrow(
      'either factor or addUs',
    )
    expect(() => scaleCalls({ service: 'a', part: 'disk' as 'server', factor: 1 })).toThrow(
      'Option part is "disk"',
    )
  })
})

describe('combineScenarios', () => {
  const cart = scaleCalls({ service: 'cart', factor: 0.5 })

  test('adds up what lies apart', () => {
    const both = combineScenarios(cart, scaleCalls({ service: 'price', addUs: 7 }))
    expect(timeUnder(both)).toBe(132)
    expect(both.title).toBe('cart × 0.5, and price +7 µs')
    expect(both.service).toBe('')
  })

  test('those that change the same build on each other', () => {
    expect(timeUnder(combineScenarios(cart, scaleCalls({ service: 'cart', factor: 2 })))).toBe(150)
    const later = scaleCalls({ service: 'price', addUs: 7 })
    expect(timeUnder(combineScenarios(later, later))).toBe(Number(timeUnder(later)) + 7)
  })

  test('a service takes so many times what results from changes below it', () => {
    const web = scaleCalls({ service: 'web', factor: 2 })
    expect(timeUnder(combineScenarios(web, cart))).toBe(2 * Number(timeUnder(cart)))
    expect(timeUnder(combineScenarios(cart, web))).toBe(2 * Number(timeUnder(cart)))
  })

  test('takes text, and says what is no scenario', () => {
    expect(timeUnder(combineScenarios('cart*0.5', cart))).toBe(112.5)
    expect(() => combineScenarios(cart, null as unknown as 'x')).toThrow(
      'Option scenarios[1] is null. Give a scenario, or one as text',
    )
  })

  test('there must be one', () => {
    expect(() => combineScenarios()).toThrow('Option scenarios is "none". Give at least one.')
  })
})
