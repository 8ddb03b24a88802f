import { describe, test } from 'vitest'
import { describeWithShared } from '../shared.ts'
import { expectIdentity } from './expect-identity.ts'
import { CASES, loadCase, loadSystem, SYSTEMS } from './real-systems.ts'

describeWithShared('requests of real systems, recomputed without a change, are as recorded', () => {
  test.each(SYSTEMS)('%s', async (path) => {
    expectIdentity(await loadSystem(path))
  })
})

describe('requests of the recorded cases, recomputed without a change, are as recorded', () => {
  test.each(CASES)('%s', async (name) => {
    expectIdentity(await loadCase(name, 'before'))
    expectIdentity(await loadCase(name, 'after'))
  })
})
