import { describe, expect, test } from 'vitest'
import { expectedCalls, planChanges } from '../../evaluation/testbed/change-plan.ts'
import { generateSystem } from '../../evaluation/testbed/generate-system.ts'
import { learnSystem } from '../../evaluation/testbed/learn-system.ts'
import { logNormalOf } from '../../evaluation/testbed/log-normal.ts'
import { makeTerminal, substituteCall } from '../../evaluation/testbed/perturb-system.ts'
import { simulateSystem } from '../../evaluation/testbed/simulate-system.ts'
import {
  callChains,
  type SimulatedCall,
  type SimulatedFlow,
  type SimulatedStep,
  type SimulatedSystem,
  systemSize,
} from '../../evaluation/testbed/simulated-system.ts'
import { ksTwoSample } from '../../src/stats/ks-two-sample.ts'
import { moments } from '../../src/stats/moments.ts'
import { randomSource } from '../../src/stats/random.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { loadCase } from '../whatif/real-systems.ts'

const always = (us: number) => logNormalOf(us, 0)

function step(
  call: SimulatedCall,
  { startsUs, networkUs = null, after = [] }: StepSketch,
): SimulatedStep {
  return {
    call,
    after,
    preprocessingUs: always(startsUs),
    networkUs: networkUs === null ? null : always(networkUs),
  }
}

interface StepSketch {
  readonly startsUs: number
  readonly networkUs?: number | null
  readonly after?: readonly number[]
}

function call(service: string, ...flows: readonly SimulatedFlow[]): SimulatedCall {
  return { service, operation: 'serve', flows }
}

function flow(
  steps: readonly SimulatedStep[],
  { replyUs, replyAfter = [], probability = 1 }: FlowSketch,
): SimulatedFlow {
  return { steps, replyAfter, replyUs: always(replyUs), probability }
}

interface FlowSketch {
  readonly replyUs: number
  readonly replyAfter?: readonly number[]
  readonly probability?: number
}

const db = call('db', flow([], { replyUs: 100 }))
const cart = call('cart', flow([step(db, { startsUs: 10 })], { replyUs: 5, replyAfter: [0] }))
const page = call('page', flow([step(db, { startsUs: 20 })], { replyUs: 5, replyAfter: [0] }))
/**
 * ```
 * front ──7── cart ──10── db 100 ──5──┐
 *       └─30── page ──20── db 100 ──5─┴─ 3 ── db 100 ── 2
 * ```
 * The network takes 40 both ways to cart, and nothing else.
 */
const shop: SimulatedSystem = {
  roots: [
    {
      probability: 1,
      call: call(
        'front',
        flow(
          [
            step(cart, { startsUs: 7, networkUs: 40 }),
            step(page, { startsUs: 30 }),
            step(db, { startsUs: 3, after: [0, 1] }),
          ],
          { replyUs: 2, replyAfter: [2] },
        ),
      ),
    },
  ],
}

const chainTo = (system: SimulatedSystem, ...services: string[]) => {
  const wanted = services.join()
  const found = callChains(system).find(
    (chain) => chain.map(({ service }) => service).join() === wanted,
  )
  if (found === undefined) throw new Error(`there is no ${wanted}`)
  return found
}

/** Durations of a trace's spans, in whole µs, as `service: µs`. */
function spansOf(traces: SpanTraces, trace = 0): string[] {
  const { spanOffsets, spans, services } = traces
  const rows = Array.from(spans.parent.keys()).slice(spanOffsets[trace], spanOffsets[trace + 1])
  return rows.map(
    (row) =>
      `${services.value(spans.service[row] as number)}: ${Math.round(spans.durationUs[row] as number)}`,
  )
}

function responseTimes(traces: SpanTraces): Float64Array {
  return Float64Array.from(traces.table().array('durationUs') as ArrayLike<number>)
}

describe('a run of a system', () => {
  test('takes what its steps take, those that do not wait for each other at the same time', () => {
    const run = simulateSystem(shop, { requests: 1, drift: 0 })
    // Cart is over at 7 + 20 + 115 + 20 = 162, page at 30 + 125 = 155.
    expect(spansOf(run)).toEqual([
      'front: 267',
      'front: 155',
      'cart: 115',
      'db: 100',
      'page: 125',
      'db: 100',
      'db: 100',
    ])
  })

  test('shows the execution models that it was made of', () => {
    const [front] = learnExecutionModels(simulateSystem(shop, { requests: 50 })).models
    expect(front?.nodes.map(({ service }) => service)).toEqual(['cart', 'page', 'db'])
    expect(front?.predecessors).toEqual([[], [], [0, 1]])
    expect(front?.returnPredecessors).toEqual([2])
  })

  test('follows flows by their probabilities', () => {
    const root = call(
      'front',
      flow([step(db, { startsUs: 1 })], { replyUs: 1, replyAfter: [0], probability: 0.2 }),
      flow([], { replyUs: 1, probability: 0.8 }),
    )
    const run = simulateSystem({ roots: [{ probability: 1, call: root }] }, { requests: 2000 })
    const share = responseTimes(run).filter((us) => us > 50).length / 2000
    expect(share).toBeGreaterThan(0.17)
    expect(share).toBeLessThan(0.23)
  })

  test('is the same for the same seed; of other seeds, only the drift tells them apart', () => {
    const system = generateSystem({ services: 10 })
    const run = (seed: number, drift: number) =>
      responseTimes(simulateSystem(system, { seed, drift, requests: 1000 }))
    expect(run(5, 0.03)).toEqual(run(5, 0.03))
    expect(ksTwoSample(run(5, 0), run(6, 0)).p).toBeGreaterThan(0.05)
    expect(ksTwoSample(run(5, 0.5), run(6, 0.5)).p).toBeLessThan(0.001)
  })

  test('refuses what cannot be run', () => {
    expect(() => simulateSystem(shop, { drift: 1 })).toThrow('Option drift is 1.')
    expect(() => simulateSystem(shop, { requests: 0 })).toThrow('Option requests is 0.')
    expect(() => simulateSystem(shop, { betweenUs: 0 })).toThrow('Option betweenUs is 0.')
  })
})

describe('a change to a system', () => {
  test('terminal: the service returns at once, and only where it was changed', () => {
    const chain = chainTo(shop, 'front', 'cart')
    const spans = spansOf(simulateSystem(makeTerminal(shop, chain), { requests: 1, drift: 0 }))
    expect(spans.filter((span) => span.startsWith('db'))).toEqual(['db: 100', 'db: 100'])
    const below = chainTo(shop, 'front', 'page', 'db')
    const others = spansOf(simulateSystem(makeTerminal(shop, below), { requests: 1, drift: 0 }))
    expect(others.filter((span) => span === 'db: 100')).toHaveLength(2)
    expect(others.filter((span) => /^db: \d{1,2}$/.test(span))).toHaveLength(1)
    // What was changed is another system; this one stays as it was.
    expect(spansOf(simulateSystem(shop, { requests: 1, drift: 0 }))[0]).toBe('front: 267')
  })

  test('substitute: all below is as in the other system, but not the same calls by others', () => {
    const slow = call('db', flow([], { replyUs: 900 }))
    const other = call(
      'cart',
      flow([step(slow, { startsUs: 10 })], { replyUs: 5, replyAfter: [0] }),
    )
    const elsewhere = {
      roots: [
        {
          probability: 1,
          call: call(
            'front',
            flow([step(other, { startsUs: 1 })], { replyUs: 1, replyAfter: [0] }),
          ),
        },
      ],
    }
    const changed = substituteCall(shop, chainTo(shop, 'front', 'cart'), elsewhere)
    const spans = spansOf(simulateSystem(changed, { requests: 1, drift: 0 }))
    expect(spans).toContain('cart: 915')
    expect(spans.filter((span) => span.startsWith('db'))).toEqual(['db: 900', 'db: 100', 'db: 100'])
    expect(() => substituteCall(shop, chainTo(shop, 'front', 'page'), elsewhere)).toThrow(
      'The other system has no calls along front serve › page serve.',
    )
  })

  test('changes are of both kinds in turn, and come round with the other kind', () => {
    const plan = (changes: number) =>
      planChanges(shop, shop, { changes, requests: 100, random: randomSource(1) }).map(
        ({ kind, chain }) => `${kind} ${chain.map(({ service }) => service).join('›')}`,
      )
    expect(plan(2).map((change) => change.split(' ')[0])).toEqual(['terminal', 'substitute'])
    // Five chains other than the root.
    expect(new Set(plan(10)).size).toBe(10)
    expect(() =>
      planChanges(shop, shop, { changes: 1, requests: 1, random: randomSource(1) }),
    ).toThrow('There is nothing to change')
  })
})

describe('a generated system', () => {
  const system = generateSystem()

  test('has 90 services, of which chains of calls pass at most 6', () => {
    expect(systemSize(system)).toMatchObject({ services: 90 })
    expect(Math.max(...callChains(system).map(({ length }) => length))).toBe(6)
  })

  test('has flows whose probabilities sum to 1', () => {
    for (const { flows } of new Set(callChains(system).flat())) {
      expect(flows.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12)
    }
  })

  test('is the same application in each variant: the same chains, other flows', () => {
    const names = (of: SimulatedSystem) =>
      callChains(of)
        .map((chain) => chain.map(({ service }) => service).join('›'))
        .sort()
    const other = generateSystem({ variant: 1 })
    expect(names(other)).toEqual(names(system))
    expect(systemSize(other).models).not.toBe(systemSize(system).models)
    // Not the systems themselves: what flows share would be compared once for every way to it.
    const run = (of: SimulatedSystem) => simulateSystem(of, { requests: 20 }).spans.durationUs
    expect(run(generateSystem())).toEqual(run(system))
    expect(run(other)).not.toEqual(run(system))
  })

  test('shares some services: a second caller makes a second chain', () => {
    const { services, paths } = systemSize(generateSystem({ seed: 2 }))
    expect(paths).toBeGreaterThan(services)
  })

  test('calls as often as is expected', () => {
    const small = generateSystem({ services: 8, seed: 3 })
    const run = simulateSystem(small, { requests: 2000 })
    const calls = callChains(small).reduce((sum, chain) => sum + expectedCalls(small, chain), 0)
    // Two spans a call, one for the request.
    expect(run.spans.parent.length / 2000 / (2 * calls - 1)).toBeCloseTo(1, 1)
  })

  test('of fewer than 3 services is refused', () => {
    expect(() => generateSystem({ services: 2 })).toThrow('Option services is 2.')
  })
})

describe('a system learned from traces', () => {
  test('runs as the recorded one: as many spans, about as long', { tags: 'full' }, async () => {
    const recorded = await loadCase('delay-1ms', 'before')
    const run = simulateSystem(learnSystem(recorded), { requests: 5000, drift: 0 })
    const perTrace = (traces: SpanTraces) => traces.spans.parent.length / traces.size
    expect(perTrace(run) / perTrace(recorded)).toBeCloseTo(1, 1)
    const mean = (traces: SpanTraces) => moments(responseTimes(traces)).mean
    expect(mean(run) / mean(recorded)).toBeGreaterThan(0.9)
    expect(mean(run) / mean(recorded)).toBeLessThan(1.25)
    expect(ksTwoSample(responseTimes(recorded), responseTimes(run)).statistic).toBeLessThan(0.15)
  })

  test('learned from a run of a system, it is that system', () => {
    const learned = learnSystem(simulateSystem(shop, { requests: 20, drift: 0 }))
    expect(spansOf(simulateSystem(learned, { requests: 1, drift: 0 }))[0]).toBe('front: 267')
    expect(systemSize(learned)).toEqual({ services: 4, paths: 6, models: 6, nodes: 11 })
  })
})

describe('logNormalOf', () => {
  test('has the mean and the variance that were asked for', () => {
    const { mu, sigma } = logNormalOf(200, 900)
    const mean = Math.exp(mu + sigma ** 2 / 2)
    expect(mean).toBeCloseTo(200, 9)
    expect(mean ** 2 * Math.expm1(sigma ** 2)).toBeCloseTo(900, 9)
  })

  test('of a mean of 0 or below is a time of 0', () => {
    const { mu, sigma } = logNormalOf(-0.5, 3)
    expect(randomSource(1).logNormal(mu, sigma)).toBe(0)
  })
})
