import { expect, test } from 'vitest'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { applyScenario } from '../../../src/whatif/scenarios/apply-scenario.ts'
import { scaleCalls } from '../../../src/whatif/scenarios/parse-scenario.ts'
import { makeSpans } from '../../make-traces.ts'

const models = learnExecutionModels(makeSpans([{ id: 'web', startUs: 0, endUs: 100 }]))

test('a scenario may be given as text', () => {
  const { quantiles, title } = applyScenario(models, 'web*2')
  expect(title).toBe('web × 2')
  expect(quantiles).toEqual(
    applyScenario(models, scaleCalls({ service: 'web', factor: 2 })).quantiles,
  )
})

test('what is no scenario, and a period that was not learned, are said', () => {
  expect(() => applyScenario(models, null as unknown as string)).toThrow('Option scenario is null.')
  expect(() => applyScenario(models, {} as unknown as string)).toThrow(
    'Give a scenario, or one as text',
  )
  expect(() => applyScenario(models, 'web*2', { period: 1 })).toThrow('Option period is 1.')
  expect(() => applyScenario(models, 'web*2', { period: 2 as 1 })).toThrow('Option period is 2.')
})
