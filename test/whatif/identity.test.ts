import { test } from 'vitest'
import { describeWithShared } from '../shared.ts'
import { expectIdentity } from './expect-identity.ts'
import { loadCase, loadSystem } from './real-systems.ts'

describeWithShared('requests of one real system of each kind', () => {
  test.each([
    'nezha-onlineboutique/ob1_currency_network_delay/faulty_trace.csv.gz',
    'tracebench-hdfs/rpc_normal',
  ])('%s: recomputed without a change, they are as recorded', async (path) => {
    expectIdentity(await loadSystem(path))
  })
})

test('requests of a recorded case, recomputed without a change, are as recorded', async () => {
  expectIdentity(await loadCase('rmw', 'before'))
  expectIdentity(await loadCase('rmw', 'after'))
})
