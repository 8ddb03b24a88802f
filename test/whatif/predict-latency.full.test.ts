import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { describeWithShared } from '../shared.ts'
import { heldOutErrors } from './held-out-errors.ts'
import { CASES, loadCase, loadSystem, SYSTEMS } from './real-systems.ts'

/**
 * Where linear regression is better over all operations. Own times go with latencies of children
 * there, in operations that do little themselves (`getAdsByCategory`, `SN WRITE`): what made the one
 * slow made the other, which a model that holds them apart cannot know.
 */
const REGRESSION_IS_BETTER = [
  'nezha-onlineboutique/ob1_currency_network_delay/faulty_trace.csv.gz',
  'mds-prefetch',
]

describeWithShared('latencies of callers in real systems are best predicted by models', () => {
  test.each(SYSTEMS)('%s', async (path) => {
    const all = heldOutErrors(learnExecutionModels(await loadSystem(path)))
    expect(all.calls).toBeGreaterThan(500)
    expect(all.unlike / all.calls).toBeLessThan(0.01)
    expect(all.model).toBeLessThan(all.criticalPath)
    if (REGRESSION_IS_BETTER.includes(path)) expect(all.model).toBeGreaterThan(all.regression)
    else expect(all.model).toBeLessThan(all.regression)
  })
})

describe('latencies of callers in the recorded cases are best predicted by models', () => {
  test.each(CASES)('%s', async (name) => {
    const all = heldOutErrors(learnExecutionModels(await loadCase(name, 'before')))
    expect(all.model).toBeLessThan(all.criticalPath)
    if (REGRESSION_IS_BETTER.includes(name)) expect(all.model).toBeGreaterThan(all.regression)
    else expect(all.model).toBeLessThan(all.regression)
  })
})
