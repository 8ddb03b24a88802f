import { expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { Precedence, waitGraph, wideOrder } from '../../src/whatif/models/call-orders.ts'

test('the order of very many calls is that of few', () => {
  const random = randomSource(1)
  for (let round = 0; round < 200; round++) {
    const n = random.integer(30)
    const times = Array.from({ length: n }, () => {
      const startUs = random.integer(60)
      return { startUs, endUs: startUs + random.integer(20) }
    })
    times.sort((a, b) => a.startUs - b.startUs || a.endUs - b.endUs)
    const startUs = times.map((each) => each.startUs)
    const endUs = times.map((each) => each.endUs)
    const { predecessors, returnPredecessors } = wideOrder(startUs, endUs, 0)
    const few = waitGraph(Precedence.observed(startUs, endUs, 0))
    expect(predecessors.map((nodes) => nodes.toSorted((a, b) => a - b))).toEqual(few.predecessors)
    expect(returnPredecessors).toEqual(few.returnPredecessors)
  }
})
