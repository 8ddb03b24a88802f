import { describe, expect, test } from 'vitest'
import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import type { ExplainedPath } from '../../../src/explain/parameters/parameter-question.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { recordedCase } from '../../recorded.ts'
import { compareRequests, type RequestSketch, requests } from './fixture.ts'

const rmw = await recordedCase('rmw')
const config = await recordedCase('mds-config')
const delay = await recordedCase('delay-1ms')

describe('recorded cases', () => {
  // A request of the period after that has a small count still takes the way of before.
  test('rmw: the I/O size at 4096 separates all but one request', () => {
    const [mutation] = rmw.ranking.mutations
    const explanation = explainMutation(rmw, mutation as { category: number; kind: 'structural' })
    expect(explanation.paths[0]).toMatchObject({
      question: 'what-differs',
      conditions: [{ kind: 'range', column: 'frontend NFS3 WRITE · count', atMost: 4096 }],
      predicts: 'mutation',
      precision: 110 / 111,
      recall: 1,
      separation: expect.closeTo(113 / 114, 9),
    })
    expect(explanation.text()).toContain('frontend NFS3 WRITE · count is at most 4,096')
  })

  test('mds-config: every large mutation is explained by the distribution scheme', {
    tags: 'full',
  }, () => {
    for (const mutation of config.ranking.mutations.slice(0, 4)) {
      const [path] = explainMutation(config, mutation).paths as [ExplainedPath]
      expect(path).toMatchObject({ question: 'what-differs', precision: 1, recall: 1 })
      expect(path.conditions[0]?.column).toMatch(/ · distribution\.(data|scheme)$/)
    }
  })

  test('mds-config: the next explanation comes when the first is taken out, and undo brings it back', () => {
    const [mutation] = config.ranking.mutations
    const first = explainMutation(config, mutation as { category: number; kind: 'structural' })
    const column = first.paths[0]?.conditions[0]?.column as string
    const second = first.without(column)
    // Scheme, data and the peer divide the requests alike.
    expect(second.excluded).toContain('mds index get · distribution.scheme')
    expect(second.excluded).toContain('mds index get · distribution.data')
    expect(second.paths.some(({ question }) => question === 'what-differs')).toBe(false)
    expect(second.undo()).toBe(first)
    expect(second.including(column).paths[0]?.conditions[0]?.column).toBe(column)
    expect(second.leftOut).toContainEqual({ column, reason: 'excluded' })
  })

  test('delay-1ms: a spin loop has no parameter, and none is blamed', { tags: 'full' }, () => {
    for (const mutation of delay.ranking.mutations.slice(0, 10)) {
      const [path] = explainMutation(delay, mutation).paths.filter(
        ({ question }) => question === 'what-differs',
      )
      expect(path).toBeUndefined()
    }
  })
})

/** Twice as slow on three of ten hosts; every host is called as often in both periods. */
function onSlowHosts(slow: boolean): (i: number) => RequestSketch {
  const random = randomSource(slow ? 1 : 2)
  return (i) => {
    const host = `node${i % 10}`
    const isSlow = slow && i % 10 < 3
    return { host, storeUs: 100 + 10 * random.next() + (isSlow ? 100 : 0), web: { size: 4096 } }
  }
}

describe('what is slow', () => {
  const comparison = compareRequests(
    requests(400, onSlowHosts(false)),
    requests(400, onSlowHosts(true)),
  )

  test('names the hosts, though every host is called as often as before', () => {
    const explanation = explainMutation(comparison, 0)
    const [path] = explanation.paths as [ExplainedPath]
    expect(path).toMatchObject({ question: 'what-is-slow', predicts: 'slow', precision: 1 })
    expect(path.conditions).toMatchObject([
      { column: 'store get · host', levels: ['node0', 'node1', 'node2'] },
    ])
    expect(path.recall).toBeGreaterThan(0.8)
    expect(explanation.question('what-differs')?.paths).toEqual([])
    expect(path.times?.hereUs).toBeGreaterThan((path.times?.elsewhereUs ?? 0) + 80)
  })

  test('asks about the edge that changed', () => {
    expect(explainMutation(comparison, 0).subject.time).toBe('store get call → store get reply')
  })
})

describe('both questions', () => {
  const sized = (size: number) => (i: number) => ({
    web: { size: size + (i % 3), unit: i % 2 === 0 ? 'a' : 'b', 'request.id': `r${i}` },
    disk: size > 100,
  })
  const before = requests(150, sized(10))
  const after = requests(150, sized(1000))
  const comparison = compareRequests(before, after)
  const [mutation] = comparison.ranking.mutations
  const options = { sample: 'all', question: 'what-differs' } as const

  test('a structural mutation is compared with its precursor', () => {
    const explanation = explainMutation(comparison, mutation?.category ?? -1, options)
    expect(explanation.paths[0]?.conditions).toEqual([
      { kind: 'range', column: 'web READ · size', above: 12 },
    ])
    expect(explanation.paths[0]).toMatchObject({ predicts: 'mutation', requests: 150, lift: 2 })
    expect(explanation.requestTable().columnNames()).toEqual([
      'request',
      'trace',
      'label',
      'timeUs',
      'web READ · size',
      'web READ · unit',
    ])
    expect(explanation.leftOutTable().array('parameter')).toContain('web READ · request.id')
  })

  test('exchanging the sides mirrors what is found', () => {
    const sides = [
      { category: 0, period: BEFORE },
      { category: 1, period: AFTER },
    ] as const
    const there = explainMutation(comparison, { before: sides[0], after: sides[1] }, options)
    const back = explainMutation(comparison, { before: sides[1], after: sides[0] }, options)
    const found = (paths: readonly ExplainedPath[], mirrored: boolean) =>
      paths
        .map(({ conditions, predicts, precision, recall, requests: count }) => ({
          conditions,
          precision,
          recall,
          count,
          isMutation: (predicts === 'mutation') !== mirrored,
        }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    expect(there.paths.length).toBe(2)
    expect(found(back.paths, true)).toEqual(found(there.paths, false))
    expect(back.differences.map(({ effect, q }) => [effect, q])).toEqual(
      there.differences.map(({ effect, q }) => [effect, q]),
    )
  })

  test('the order of traces changes nothing', () => {
    const shuffled = (spans: typeof before) => {
      const ids = [...new Set(spans.map(({ trace }) => trace))]
      const order = randomSource(3).shuffle(ids)
      return order.flatMap((id) => spans.filter(({ trace }) => trace === id))
    }
    const again = compareRequests(shuffled(before), shuffled(after))
    const paths = explainMutation(again, mutation?.category ?? -1, options).paths
    expect(paths).toEqual(explainMutation(comparison, mutation?.category ?? -1, options).paths)
  })

  test('a renamed value changes only its name', () => {
    const kinds = (names: readonly [string, string]) => (isAfter: boolean) => (i: number) => ({
      web: { kind: names[Number(isAfter !== (i % 10 === 0))] as string },
      disk: isAfter,
    })
    const pathsOf = (names: readonly [string, string]) => {
      const made = kinds(names)
      const compared = compareRequests(requests(100, made(false)), requests(100, made(true)))
      return explainMutation(compared, 1, options).paths
    }
    const rename = (paths: readonly ExplainedPath[]) =>
      paths.map((path) => ({
        ...path,
        conditions: path.conditions.flatMap((condition) =>
          condition.kind === 'levels' ? condition.levels : [],
        ),
      }))
    const [one, other] = [rename(pathsOf(['a', 'b'])), rename(pathsOf(['c', 'b']))]
    expect(other.map(({ conditions }) => conditions)).toEqual([['b'], ['c']])
    expect(one.map(({ conditions, ...rest }) => rest)).toEqual(
      other.map(({ conditions, ...rest }) => rest),
    )
  })

  test('an identifier can be put back, anything taken out', () => {
    const back = explainMutation(comparison, 1, { ...options, include: ['web READ · request.id'] })
    expect(back.leftOut.map(({ column }) => column)).not.toContain('web READ · request.id')
    const out = explainMutation(comparison, 1, { ...options, exclude: ['web READ · size'] })
    expect(out.paths).toEqual([])
    expect(out.text()).toContain('\nNo parameter tells mutations from precursors.\nTried: ')
    expect(out.text()).toMatch(/^Tried: .*web READ · .*\.$/m)
    expect(out.text()).not.toMatch(/^Tried: .*web READ · size/m)
    expect(() => explainMutation(comparison, 1, { exclude: ['web READ · sise'] })).toThrow(
      'There is no parameter "web READ · sise". Give one such as \'web READ · size\'',
    )
  })

  test('wrong options are refused', () => {
    expect(() => explainMutation(comparison, 9)).toThrow('Option what is 9')
    expect(() => explainMutation(comparison, 1, { sample: 0.1 })).toThrow('Option sample is 0.1')
    expect(() => explainMutation(comparison, 1, { question: 'why' as 'both' })).toThrow(
      'Option question is "why"',
    )
    expect(() => explainMutation(comparison, 1, { seeed: 1 } as object)).toThrow('seeed')
    expect(() => explainMutation(comparison, 1, { alpha: 5 })).toThrow('Option alpha is 5')
    expect(() =>
      explainMutation(comparison, 1, { question: 'what-differs' }).requestTable('what-is-slow'),
    ).toThrow("The question 'what-is-slow' was not asked")
  })
})

test('without parameters there is nothing to say, and nothing breaks', () => {
  const comparison = compareRequests(
    requests(40, () => ({})),
    requests(40, () => ({ storeUs: 900 })),
  )
  const explanation = explainMutation(comparison, 0)
  expect(explanation.paths).toEqual([])
  expect(explanation.differences).toEqual([])
  expect(explanation.table().numRows()).toBe(0)
  expect(explanation.displayText()).toContain(
    '\nNo parameter tells requests after from requests before, or slow requests from others.\n',
  )
  expect(explanation.displayText()).toContain('No recorded parameter has different values.')
})
