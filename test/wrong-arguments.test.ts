import { expect, test } from 'vitest'
import * as flowdelta from '../src/index.ts'
import * as stats from '../src/stats/index.ts'
import { every, makeSpans, requestsAt } from './make-traces.ts'

const { buildFlows, categorize, compare, explore, FlowdeltaError, plot } = flowdelta
const traces = makeSpans(requestsAt(every(1000, 30)))
const comparison = compare(traces, traces)
const { flows, categories } = comparison

/** What somebody passes by mistake, among it stages that a function does not take, and their promise. */
const WRONG: readonly unknown[] = [
  undefined,
  null,
  3,
  Number.NaN,
  'x',
  true,
  {},
  [],
  [null],
  [1, 2, 3],
  () => 1,
  new Date(0),
  traces,
  flows,
  categories,
  comparison,
  comparison.steps,
  Promise.resolve(traces),
]
/** Anything may be shown, and what is thrown may be made of anything. */
const TAKES_ANYTHING = /^(show|.*Error)$/

type Call = (...given: readonly unknown[]) => unknown

/** The public functions and classes of both entry points, as calls. */
function publicCalls(): [name: string, call: Call][] {
  const all = [...Object.entries(flowdelta), ...Object.entries(stats)] as [string, Call][]
  return all
    .filter(([name, made]) => typeof made === 'function' && !TAKES_ANYTHING.test(name))
    .map(([name, made]) => {
      const isClass = String(made).startsWith('class')
      const Made = made as unknown as new (...given: readonly unknown[]) => unknown
      return [name, isClass ? (...given) => new Made(...given) : made]
    })
}

/** What a call throws, at once or later. */
async function thrownBy(call: Call, given: readonly unknown[]): Promise<unknown> {
  try {
    const made = await call(...given)
    const steps = made as Partial<AsyncGenerator> | undefined
    if (typeof steps?.next === 'function') await steps.next()
    return undefined
  } catch (error) {
    return error
  }
}

test.each(publicCalls())('%s answers wrong arguments in words', async (_, call) => {
  for (const first of WRONG) {
    for (const rest of [[], ...WRONG.map((second) => [second]), [traces, null], [{}, 'x']]) {
      const error = await thrownBy(call, [first, ...rest])
      if (error !== undefined && !(error instanceof FlowdeltaError)) {
        throw new Error(`with ${String([typeof first, ...rest.map((each) => typeof each)])}`, {
          cause: error,
        })
      }
    }
  }
})

test('only what has defaults can be called with nothing', async () => {
  const calls = publicCalls()
  const thrown = await Promise.all(calls.map(([, call]) => thrownBy(call, [])))
  const taken = calls.filter((_, i) => thrown[i] === undefined).map(([name]) => name)
  expect(taken.sort()).toEqual(['LogBuilder'])
})

test('an error names the call, what it got, and where the right thing comes from', async () => {
  const message = (call: () => unknown) => {
    try {
      call()
    } catch (error) {
      return (error as Error).message
    }
    return 'nothing thrown'
  }
  const any = (value: unknown) => value as never
  expect(message(() => categorize(any(comparison)))).toBe(
    'categorize(flows) got a Comparison. Give flows: what buildFlows returns, or comparison.flows.',
  )
  expect(message(() => compare(any(flows), traces))).toBe(
    'compare(before, after) for before got a FlowSet. Give traces: what loadTraces loads.',
  )
  expect(message(() => buildFlows([Promise.resolve(traces), traces] as never))).toBe(
    'buildFlows([before, after]) got a Promise. Write `await` before it.',
  )
  expect(message(() => stats.ksTwoSample([1, 2], any('12')))).toBe(
    'after got "12". Give an array of numbers.',
  )
  expect(message(() => stats.ksTwoSample([1], [2], { alternativ: 'slower' } as never))).toBe(
    'There is no option alternativ. Did you mean alternative?',
  )
  expect(message(() => plot(any(undefined)))).toMatch(/^plot has no picture of undefined\. Give/)
})

test('a period is not dropped: buildFlows takes two in one array', () => {
  expect(() => (buildFlows as Call)(traces, traces)).toThrow(FlowdeltaError)
  expect(() => (buildFlows as Call)([traces, traces, traces])).toThrow('two periods')
})

test('programs tell errors by their code', async () => {
  const code = async (call: Call, ...given: readonly unknown[]) =>
    ((await thrownBy(call, given)) as InstanceType<typeof FlowdeltaError>).code
  const load = flowdelta.loadTraces as Call
  expect(await code(categorize as Call, 3)).toBe('argument')
  expect(await code(plot as Call, comparison, 'findigs')).toBe('argument')
  expect(await code(compare as Call, traces, traces, { alpha: 2 })).toBe('option')
  expect(await code(compare as Call, traces, traces, { alhpa: 0.1 })).toBe('option')
  expect(await code(load, { name: 'a.json', bytes: '{"data":[' })).toBe('format')
  expect(await code(load, '/no/such/file.json')).toBe('input')
})

test('a trace is found by how its id begins, as findings print it', () => {
  const shown = (id: string) => explore(comparison, 'trace', { id }).mimeBundle()['text/plain']
  expect(shown('request-000007')).toContain('Trace request-000007 took')
  expect(() => shown('request-00000…')).toThrow(
    "Give more of it: ids that begin so are 'request-000000', 'request-000001'.",
  )
  expect(shown('request-000007…')).toBe(shown('request-000007'))
  const ids = makeSpans(requestsAt([1, 2]).map((span, i) => ({ ...span, trace: `${i}abcdef` })))
  expect(explore(ids, 'trace', { id: '1abc…' }).mimeBundle()['text/plain']).toContain('1abcdef')
  expect(() => shown('absent')).toThrow("Give the id of a trace, such as 'request-000000'.")
})
