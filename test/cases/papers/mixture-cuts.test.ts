import { describe, expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { diagnoseLatency } from '../../../src/whatif/diagnosis/diagnose-latency.ts'
import type { DiagnosisOptions } from '../../../src/whatif/diagnosis/latency-diagnosis.ts'
import type { SpanSketch } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { call, record } from '../../worlds.ts'

interface State {
  readonly seed: number
  /** Share of calls to the store that are made in its slow state. */
  readonly slow: number
  readonly slowUs?: number
}
type Recorded = (isSlow: boolean, next: () => number) => SpanSketch['attributes']

/** web calls the store, whose state `recorded` tells. */
function period({ seed, slow, slowUs = 30_000 }: State, recorded: Recorded) {
  return record({ seed, requests: 700, everyUs: 1e5 }, (r) => {
    const isSlow = r.is(slow)
    const [ownUs, storeUs] = [r.about(5000, 0.25), r.about(isSlow ? slowUs : 6000, 0.25)]
    const store = call('store', storeUs, { attributes: recorded(isSlow, r.next) ?? {} })
    return call('web', [ownUs, 500], {}, [store])
  })
}

function firstCause(
  [before, after]: readonly [State, State],
  recorded: Recorded,
  options: Partial<DiagnosisOptions> = {},
) {
  const { best } = diagnoseLatency(period(before, recorded), period(after, recorded), options)
  return best?.scenario.title
}

const fill: Recorded = (isSlow, next) => ({ 'buffer.fill': (isSlow ? 0.7 : 0.1) + 0.2 * next() })
const compacting: Recorded = (isSlow, next) => (isSlow && next() < 0.97 ? { event: 'compact' } : {})

describe('another state of a service, not slower work, is the answer', () => {
  test('where a number tells the state, which is rare before', () => {
    const states = [
      { seed: 1, slow: 0.08 },
      { seed: 2, slow: 0.45 },
    ] as const
    expect(firstCause(states, fill)).toMatch(/^mix of .* by buffer\.fill as after/)
    const asked = firstCause(states, fill, { features: ['attribute:buffer.fill'] })
    expect(asked).toMatch(/^mix of .* by buffer\.fill as after/)
  })

  test('where a number tells the state, which is gone after', () => {
    const states = [
      { seed: 3, slow: 0.6 },
      { seed: 4, slow: 0.1 },
    ] as const
    expect(firstCause(states, fill)).toMatch(/^mix of .* by buffer\.fill as after/)
  })

  test('where an event tells the state, which is new', () => {
    const states = [
      { seed: 5, slow: 0 },
      { seed: 6, slow: 0.3 },
    ] as const
    expect(firstCause(states, compacting)).toBe(
      'mix of calls to store call by presence of event compact as after',
    )
    const asked = firstCause(states, compacting, { features: ['event:compact'] })
    expect(asked).toBe('mix of calls to store call by presence of event compact as after')
  })

  test('where the presence of an attribute tells the state', () => {
    const states = [
      { seed: 7, slow: 0.1 },
      { seed: 8, slow: 0.4 },
    ] as const
    const waited: Recorded = (isSlow) => (isSlow ? { 'lock.owner': 'gc' } : {})
    expect(firstCause(states, waited)).toMatch(/by presence of lock\.owner as after$/)
  })

  test('but slower work is, where the states are as frequent as before', () => {
    const states = [
      { seed: 9, slow: 0.4 },
      { seed: 10, slow: 0.4, slowUs: 60_000 },
    ] as const
    expect(firstCause(states, fill)).toMatch(/^server time of store call/)
  })
})

describeWithShared('the recorded case mixture-cuts', () => {
  test.each([
    ['number', /^mix of (requests|calls to B work) by pool\.waiting as after/],
    ['event', /by presence of event scheduler\.preempted as after/],
  ])('%s: the mix explains nearly all', async (name, title) => {
    const load = (period: string) =>
      loadTraces(sharedFile(`cases/papers/mixture-cuts/${name}-${period}.json.gz`) as string)
    const { best, divergence } = diagnoseLatency(await load('before'), await load('after'))
    expect(best?.scenario.title).toMatch(title)
    expect(best?.divergence).toBeLessThan(0.1 * divergence)
  })
})
