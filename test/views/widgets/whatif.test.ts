import { describe, expect, test } from 'vitest'
import { explore } from '../../../src/views/explore.ts'
import {
  carriedProfile,
  factorAt,
  PARTS,
  placeOfFactor,
  predictedProfile,
  restoreRequests,
  SLIDER_REACH,
  sampleRequests,
  scenarioOf,
  type WhatIfChange,
  whatIfCode,
  whatIfRows,
  withChange,
} from '../../../src/views/widgets/whatif/what-if-data.ts'
import {
  callersOf,
  carriedCurve,
  halvedText,
  predictedCurve,
  shareWithin,
  shownCauses,
} from '../../../src/views/widgets/whatif/what-if-widget.tsx'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { LatencyProfile, profileQuantiles } from '../../../src/whatif/recompute/latency-profile.ts'
import { RequestModel } from '../../../src/whatif/recompute/request-model.ts'
import { makeSpans } from '../../make-traces.ts'
import { loadCase } from '../../whatif/real-systems.ts'
import { BEFORE, namedServices } from '../charts/what-if-fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { dataOf, diagnosis, models, pasted } from './what-if-fixture.ts'

const change = (
  service: string,
  factor: number,
  more: Partial<WhatIfChange> = {},
): WhatIfChange => ({
  service,
  operation: '',
  part: 'server',
  factor,
  ...more,
})
const ALL = { seed: 1, requests: 10_000, size: 10_000_000 } as const
const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** The storage service as recorded: loops, calls that nobody waits for, many orders. */
const recorded = learnExecutionModels(await loadCase('delay-1ms', 'before'))

test('the share of requests within a time is that of the profile', () => {
  const model = new RequestModel(models, 0)
  const profile = predictedProfile(model, [])
  const carried = carriedCurve('before', 'target', carriedProfile(profile, 200))
  for (const q of [0.1, 0.5, 0.9, 1]) {
    const us = profile.quantile(q)
    const share = profile.shareWithin(us)
    expect(Math.abs(shareWithin(predictedCurve(model, []), us) - share)).toBeLessThan(0.01)
    expect(Math.abs(shareWithin(carried, us) - share)).toBeLessThan(0.02)
  }
  expect(shareWithin(carried, 0)).toBe(0)
})

describe('requests in a page', () => {
  describe.each([
    { name: 'simulated', of: models, tags: [] },
    { name: 'recorded', of: recorded, tags: ['full'] },
  ])('$name ones', ({ of, tags }) =>
    test('a page recomputes requests as Node does', { tags }, () => {
      const stayed = new RequestModel(of, 0)
      const sample = sampleRequests(of, ALL)
      expect(sample.requests).toBe(sample.ofRequests)
      const arrived = restoreRequests(sent(sample))
      const services = new Set(
        Array.from({ length: of.paths.size }, (_unused, path) => of.paths.service(path)),
      )
      for (const part of PARTS) {
        for (const service of services) {
          const scenario = scenarioOf([change(service, 3, { part })])
          const times = (model: RequestModel) =>
            model.responseTimes(scenario?.apply(model, null).changes ?? []).sort()
          const theirs = times(arrived)
          // Rounded to seven digits, call by call.
          times(stayed).forEach((us, i) => {
            expect(Math.abs((theirs[i] as number) / us - 1)).toBeLessThan(1e-3)
          })
        }
      }
    }),
  )

  test('a sample has the profile of all, and is chosen by its seed', () => {
    const sample = (seed: number) => sampleRequests(recorded, { ...ALL, requests: 500, seed })
    const all = new RequestModel(recorded, 0).responseTimes([])
    const own = LatencyProfile.ofRequests(restoreRequests(sample(1)).responseTimes([]))
    expect(own.requests).toBe(500)
    const [few, many] = [own, LatencyProfile.ofRequests(all)].map(profileQuantiles)
    expect((few?.p50Us ?? 0) / (many?.p50Us ?? 1)).toBeCloseTo(1, 1)
    expect((few?.p99Us ?? 0) / (many?.p99Us ?? 1)).toBeCloseTo(1, 1)
    expect(sample(1)).toEqual(sample(1))
    expect(sample(2)).not.toEqual(sample(1))
  })

  test('a sample has as many requests as there is room for', () => {
    const { requests, ofRequests } = sampleRequests(recorded, { ...ALL, size: 20_000 })
    expect(ofRequests).toBe(10_000)
    expect(requests).toBeGreaterThan(50)
    expect(requests).toBeLessThan(1000)
    expect(JSON.stringify(dataOf(recorded)).length).toBeLessThan(200_000)
  })

  test('requests of too many calls are left out, counted, and refused where there are no others', () => {
    const spans = (trace: string, calls: number) => [
      { trace, id: `${trace} root`, service: 'web', startUs: 0, endUs: 9000 },
      ...Array.from({ length: calls }, (_, i) => ({
        trace,
        id: `${trace} ${i}`,
        parent: `${trace} root`,
        service: 'db',
        startUs: 10 + i,
        endUs: 11 + i,
      })),
    ]
    const mixed = learnExecutionModels(makeSpans([...spans('a', 3), ...spans('b', 200)]))
    const small = { ...ALL, size: 2000 }
    expect(sampleRequests(mixed, small)).toMatchObject({ ofRequests: 2, tooLarge: 1 })
    const large = learnExecutionModels(makeSpans(spans('b', 200)))
    expect(() => sampleRequests(large, small)).toThrow('No request has as few as 125 calls')
  })

  test('names of any length fit into a page and stay distinct', () => {
    const spans = Array.from({ length: 40 }, (_, i) => ({
      trace: `t${i >> 2}`,
      id: String(i),
      service: 'web',
      startUs: 0,
      endUs: 100 + i,
      operation: `${'x'.repeat(1000)} ${i}`,
    }))
    const long = learnExecutionModels(makeSpans(spans))
    const sample = sampleRequests(long, { ...ALL, size: 4000 })
    const { paths } = restoreRequests(sample).models
    expect(sample.requests).toBeGreaterThan(3)
    expect(sample.requests).toBeLessThan(13)
    expect(paths.names).toBe(sample.requests)
  })

  test('a sample keeps the sampling weights of requests', () => {
    const weighed = learnExecutionModels(
      makeSpans(
        [10, 20].map((endUs, i) => ({
          trace: `t${i}`,
          id: `web${i}`,
          service: 'web',
          startUs: 0,
          endUs,
          probability: i === 0 ? 0.25 : 1,
        })),
      ),
    )
    const profile = predictedProfile(restoreRequests(sampleRequests(weighed, ALL)), [])
    expect(Array.from(profile.weight)).toEqual([4, 1])
  })
})

describe('changes', () => {
  test('a slider moved back to the middle is no change, and keeps its place until then', () => {
    const two = withChange(withChange([], change('a', 2)), change('b', 3))
    expect(withChange(two, change('a', 4)).map(({ factor }) => factor)).toEqual([4, 3])
    expect(withChange(two, change('a', 4, { part: 'network' }))).toHaveLength(3)
    expect(withChange(two, change('a', 1)).map(({ service }) => service)).toEqual(['b'])
  })

  test('places of sliders and factors are each other’s inverse', () => {
    for (let place = -SLIDER_REACH; place <= SLIDER_REACH; place++) {
      expect(placeOfFactor(factorAt(place))).toBe(place)
    }
    expect([factorAt(-SLIDER_REACH), factorAt(0), factorAt(SLIDER_REACH)]).toEqual([0.1, 1, 10])
    expect([0, 0.001, 100, 1.01].map(placeOfFactor)).toEqual([
      -SLIDER_REACH,
      -SLIDER_REACH,
      SLIDER_REACH,
      0,
    ])
  })

  test.each([
    [[change('db', 0.5)], "applyScenario(models, parseScenario('db*0.5'))"],
    [
      [change('db', 2, { part: 'network' }), change('web', 3, { part: 'preprocessing' })],
      "applyScenario(models, combineScenarios(parseScenario('network:db*2'), parseScenario('preprocessing:web*3')))",
    ],
    [
      [change('db', 2, { operation: 'serve db' })],
      "applyScenario(models, scaleCalls({ service: 'db', operation: 'serve db', factor: 2 }))",
    ],
    [[change('network:x', 2)], "applyScenario(models, parseScenario('server:network:x*2'))"],
    [
      [change('db', 1e-7, { part: 'network' })],
      "applyScenario(models, scaleCalls({ service: 'db', part: 'network', factor: 1e-7 }))",
    ],
    [[change('a\nb', 2)], "applyScenario(models, scaleCalls({ service: 'a\\nb', factor: 2 }))"],
  ])('changes become code that says the same: %j', (changes, code) => {
    expect(whatIfCode('models', changes)).toBe(code)
  })

  test('the code gives for all requests what is shown for the sample', () => {
    const changes = [change('db', 2), change('web', 0.5, { part: 'preprocessing' })]
    const shown = predictedProfile(restoreRequests(sampleRequests(models, ALL)), changes)
    const { quantiles } = pasted(whatIfCode('models', changes) as string)
    expect(shown.quantile(0.5) / quantiles.p50Us).toBeCloseTo(1, 3)
    expect(shown.quantile(0.99) / quantiles.p99Us).toBeCloseTo(1, 3)
  })

  test.each([HOSTILE, 'a*2', ' a', "it's", 'server:a', '\u202e'])(
    'code with the service %j changes that service',
    (name) => {
      const [before] = namedServices(name)
      const of = learnExecutionModels(before)
      const code = whatIfCode('models', [change(name, 2)]) as string
      const { touched, before: all } = pasted(code, { models: of })
      expect(touched).toBe(all.requests)
    },
  )
})

describe('the data', () => {
  test('rows stand in the order of what they matter, with what half of them would do', () => {
    const data = dataOf(models)
    const { paths } = restoreRequests(data.sample).models
    const services = whatIfRows(data.rows, 'service', paths)
    const operations = whatIfRows(data.rows, 'operation', paths)
    expect(services.map(({ service }) => service)).toEqual(['web', 'cart', 'price', 'stock', 'db'])
    expect(services[0]).toMatchObject({
      operation: '',
      halved: [expect.closeTo(-0.5, 3), 0, expect.closeTo(-0.059, 3)],
    })
    expect(operations.map(({ operation }) => operation)).toContain('serve db')
    expect(data.target?.title).toBe('after')
    expect(dataOf(learnExecutionModels(BEFORE)).target).toBeNull()
  })

  test('causes carry their facts, and what they lie within stands before them', () => {
    const { causes, causesInAll, unchanged } = dataOf(diagnosis).diagnosis ?? {
      causes: [],
      causesInAll: 0,
      unchanged: 0,
    }
    expect(causesInAll).toBe(diagnosis.size)
    expect(unchanged).toBe(diagnosis.divergence)
    causes.forEach((cause, place) => {
      const { scenario, p50Us, parent } = diagnosis.ranked[cause.rank - 1] ?? {}
      expect(cause.title).toBe(scenario?.title)
      expect(cause.profile.facts.p50Us / (p50Us ?? 0)).toBeCloseTo(1, 4)
      expect(causes[cause.parent]?.rank).toBe(parent?.rank)
      expect(cause.parent).toBeLessThan(place)
    })
    const deep = causes.findIndex(({ level }) => level > 0)
    expect(shownCauses(causes, new Set())).not.toContain(deep)
    expect(shownCauses(causes, new Set(callersOf(causes, deep)))).toContain(deep)
  })

  test('shares are said with their sign', () => {
    expect([-0.5, -0.123, 0.02, -0.00214, 0, -1e-9].map(halvedText)).toEqual([
      '−50 %',
      '−12 %',
      '+2 %',
      '−0.21 %',
      '0 %',
      'under 0.01 %',
    ])
  })
})

describe('the widget', () => {
  test('the still shows the first state: changes, the chosen cause, and the best causes', () => {
    const svg = explore(diagnosis, {
      changes: [{ service: 'db', factor: 2 }],
      cause: 2,
    }).svg()
    expect(svg).toContain('db × 2')
    expect(svg).toContain('cause 2: ')
    expect(svg).toContain('1. server time of db')
    expect(svg).toContain('Divergence is how far')
    expect(svg).toContain('over all 150 requests before')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
    expect(explore(models).svg()).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('the widget draws requests that took no time', () => {
    const zero = learnExecutionModels(makeSpans([{ id: 'a', startUs: 5, endUs: 5 }]))
    expect(explore(zero).svg()).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('the widget checks its options', () => {
    const wrong = (options: object) => () => explore(diagnosis, options)
    expect(wrong({ part: 'disk' })).toThrow('Option part is "disk".')
    expect(wrong({ requests: 0 })).toThrow('Option requests is 0.')
    expect(wrong({ cause: 999 })).toThrow('Option cause is 999.')
    expect(wrong({ changes: [{ service: 'db', factor: -1 }] })).toThrow(
      'Option changes[0].factor is -1.',
    )
    expect(wrong({ changes: 'db*2' })).toThrow('Option changes is "db*2".')
    expect(wrong({ changes: [{ service: 'db', facter: 2 }] })).toThrow('changes[0].facter')
    expect(wrong({ changes: [{ service: 'nosuch', factor: 2 }] })).toThrow(
      'Option service is "nosuch". Give one of cart, db, price, stock, web',
    )
    expect(wrong({ limit: 1 })).toThrow('There is no option limit.')
    expect(() => explore(models, { cause: 1 })).toThrow('there are no causes')
  })
})
