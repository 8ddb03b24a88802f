import { expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { wideOrder } from '../../src/whatif/models/call-orders.ts'
import { maximalModel } from '../../src/whatif/models/maximal-model.ts'

test('the order of very many calls is that of few', () => {
  const random = randomSource(1)
  for (let round = 0; round < 200; round++) {
    const n = random.integer(30)
    const startUs = Float64Array.from({ length: n }, () => random.integer(60))
    const endUs = startUs.map((us) => us + random.integer(20))
    const { predecessors, returnPredecessors } = wideOrder(startUs, endUs, 0)
    const model = maximalModel({ startUs, endUs }, { replyUs: 100, slackUs: 0 })
    expect(predecessors.map((nodes) => nodes.toSorted((a, b) => a - b))).toEqual(model.predecessors)
    expect(returnPredecessors).toEqual(model.returnPredecessors)
  }
})
