import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { orderClasses } from '../../src/whatif/scenarios/order-candidates.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { heldOutErrors } from './held-out-errors.ts'

//  web  auth |a 20-60|                  at once
//                    |b 20-60|
//                    |c 20-60|   done   or |b| then |c|
interface Mix {
  readonly sequential: number
  /** The greatest time before c begins beside b, µs. */
  readonly jitterUs?: number
  readonly seed?: number
  readonly requests?: number
  /** How many requests call b before auth is over. */
  readonly early?: number
}

function fanOut({ sequential, jitterUs = 1, seed = 1, requests = 300, early = 0 }: Mix) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let request = 0; request < requests; request++) {
    const trace = `t${request}`
    const call = (id: string, startUs: number) => {
      const endUs = startUs + 20 + 40 * random.next()
      spans.push({ trace, id, parent: 'web', startUs, endUs })
      return endUs
    }
    const inTurn = random.next() < sequential
    const auth = call('auth', 10)
    const b = call('b', (request < early ? 5 : auth + 10) + random.next())
    const c = call('c', (inTurn ? b : auth) + 10 + jitterUs * random.next())
    const done = call('done', Math.max(b, c) + 10 + random.next())
    spans.push({ trace, id: 'web', startUs: 0, endUs: done + 10 })
  }
  return makeSpans(spans)
}

/** Pairs of the models of `web`, most calls first. */
function edges(mix: Mix): number[][] {
  const { models } = learnExecutionModels(fanOut(mix))
  return models
    .filter(({ nodes }) => nodes.length === 4)
    .map(({ predecessors }) => predecessors.map(({ length }) => length))
}

describe('calls that wait where others do not are another flow, however alike', () => {
  test.each([0.2, 0.6, 0.8])('%d of the calls one after the other', (sequential) => {
    const found = edges({ sequential })
    expect(found).toHaveLength(2)
    // auth, b, c, done: of those at once, done waits for both.
    expect(found).toContainEqual([0, 1, 1, 1])
    expect(found).toContainEqual([0, 1, 1, 2])
  })

  test('too few others for a flow keep their own order, and do not make the rest forget theirs', () => {
    const { models } = learnExecutionModels(fanOut({ sequential: 0.95 }))
    const [web, other] = models.filter(({ nodes }) => nodes.length === 4)
    expect(other).toBeUndefined()
    expect(web?.predecessors.map(({ length }) => length)).toEqual([0, 1, 1, 1])
    expect(web?.ownCalls).toBeGreaterThan(5)
    expect(web?.ownCalls).toBeLessThan(30)
  })

  test('all of them, or none, are one flow', () => {
    expect(edges({ sequential: 0 })).toEqual([[0, 1, 1, 2]])
    expect(edges({ sequential: 1 })).toEqual([[0, 1, 1, 1]])
  })

  test('what is over by chance, as it begins at random, is no waiting', () => {
    expect(edges({ sequential: 0, jitterUs: 60 })).toEqual([[0, 1, 1, 2]])
  })

  test('nor does a call that started before its time make it look like waiting', () => {
    const mix = { sequential: 0, jitterUs: 60 }
    const stray = { early: 2, ...mix }
    const { models } = learnExecutionModels(fanOut(stray))
    expect(models.filter(({ nodes }) => nodes.length === 4)).toHaveLength(1)
  })

  test('a few calls show nothing', () => {
    expect(edges({ sequential: 0.5, requests: 40 })).toHaveLength(1)
  })

  test('each is predicted by its own', () => {
    const models = learnExecutionModels(fanOut({ sequential: 0.6 }))
    expect(heldOutErrors(models).model).toBeLessThan(0.01)
  })
})

describe('orders of two periods', () => {
  const classesOf = (before: Mix, after: Mix) => {
    const models = learnExecutionModels([fanOut(before), fanOut({ seed: 2, ...after })])
    const classes = orderClasses(models)
    const of = models.models.filter(({ nodes }) => nodes.length === 4)
    const distinct = (numbers: readonly (number | undefined)[]) => new Set(numbers).size
    return {
      flows: distinct(of.map(({ flow }) => flow)),
      classes: distinct(of.map(({ id }) => classes[id])),
    }
  }

  test('at once before and one after the other after are two flows, and two orders', () => {
    expect(classesOf({ sequential: 0 }, { sequential: 1 })).toEqual({ flows: 2, classes: 2 })
  })

  test('the same in both is one', () => {
    expect(classesOf({ sequential: 1 }, { sequential: 1 })).toEqual({ flows: 1, classes: 1 })
  })

  test('what was over by chance is no other order, whatever its share', () => {
    const few = { sequential: 0, jitterUs: 20 }
    expect(classesOf(few, { sequential: 0, jitterUs: 200 }).classes).toBe(1)
  })
})
