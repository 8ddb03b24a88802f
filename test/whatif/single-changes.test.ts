import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../src/whatif/scenarios/apply-scenario.ts'
import { scaleCalls } from '../../src/whatif/scenarios/scale-calls.ts'
import { findSingleChanges } from '../../src/whatif/scenarios/single-changes.ts'
import { serviceTraces } from './scenarios/service-traces.ts'

const traces = serviceTraces({
  services: {
    web: { ownUs: 500, calls: ['cart', 'price'] },
    cart: { ownUs: 1000, calls: ['db'] },
    price: { ownUs: 3000, calls: ['db'] },
    db: { ownUs: 800, calls: [] },
  },
  root: 'web',
  requests: 60,
  seed: 1,
})
const models = learnExecutionModels(traces)

describe('single changes', () => {
  test('are what the scenario of each service gives, each by itself', () => {
    const { changes, before } = findSingleChanges(models, { factors: [0.5, 3] })
    expect(changes.map(({ service }) => service).sort()).toEqual(['cart', 'db', 'price', 'web'])
    for (const { service, effects } of changes) {
      ;[0.5, 3].forEach((factor, i) => {
        const { quantiles, beforeQuantiles, profile } = applyScenario(
          models,
          scaleCalls({ service, factor }),
        )
        expect(effects[i]).toEqual({ ...quantiles, meanUs: profile.meanUs })
        expect(before).toMatchObject({ ...beforeQuantiles })
      })
    }
  })

  test('stand in the order of how far they move the mean', () => {
    const { changes, before } = findSingleChanges(models)
    const far = changes.map(({ effects }) =>
      Math.max(...effects.map(({ meanUs }) => Math.abs(meanUs - before.meanUs))),
    )
    expect(far).toEqual([...far].sort((a, b) => b - a))
    expect(changes.slice(0, 2).map(({ service }) => service)).toEqual(['web', 'price'])
  })

  test('of operations, and of other parts', () => {
    const single = findSingleChanges(models, { by: 'operation', part: 'network', factors: [2] })
    expect(single.changes.map(({ operation }) => operation)).toContain('serve db')
    // Nobody calls the root.
    const root = single.changes.find(({ service }) => service === 'web')
    expect(root?.effects[0]).toEqual(single.before)
  })

  test('as a table: one row a change and factor', () => {
    const table = findSingleChanges(models).table()
    expect(table.numRows()).toBe(8)
    expect(Array.from(table.array('factor')).slice(0, 2)).toEqual([0.5, 2])
    const row = (column: string) => Number(table.get(column, 0))
    expect(row('p50ChangeUs')).toBeCloseTo(row('p50Us') - findSingleChanges(models).before.p50Us, 9)
  })

  test('options out of range are named', () => {
    const wrong = (options: object) => () => findSingleChanges(models, options)
    expect(wrong({ part: 'disk' })).toThrow('Option part is "disk".')
    expect(wrong({ period: 1 })).toThrow('Option period is 1.')
    expect(wrong({ factors: [] })).toThrow('Option factors is "empty".')
    expect(wrong({ factors: [-1] })).toThrow('Option factors[0] is -1.')
    expect(wrong({ limit: 3 })).toThrow('There is no option limit.')
  })
})
