import { describe, expect, test } from 'vitest'
import {
  diagnoseLatency,
  diagnoseLatencyStepwise,
} from '../../src/whatif/diagnosis/diagnose-latency.ts'
import type {
  DiagnosisOptions,
  LatencyDiagnosis,
} from '../../src/whatif/diagnosis/latency-diagnosis.ts'
import { applyScenario } from '../../src/whatif/scenarios/apply-scenario.ts'
import { chains, makeGraphs, makeSpans } from '../make-traces.ts'
import { type ServiceTraceOptions, serviceTraces } from './scenarios/service-traces.ts'

const SERVICES = {
  web: { ownUs: 500, calls: ['cart', 'price'] },
  cart: { ownUs: 1000, calls: ['stock', 'db'], parallel: true },
  price: { ownUs: 1500, calls: ['db'] },
  stock: { ownUs: 4000, calls: [] },
  db: { ownUs: 800, calls: [] },
}
const SIMULATED = { services: SERVICES, root: 'web', requests: 300, hosts: 2, hitRate: 0.3 }
const before = serviceTraces({ ...SIMULATED, seed: 1, name: 'before' })
const afterWith = (change: Partial<ServiceTraceOptions>) =>
  serviceTraces({ ...SIMULATED, seed: 2, name: 'after', ...change })

const bestTitle = (diagnosis: LatencyDiagnosis) => diagnosis.best?.scenario.title
const facts = (diagnosis: LatencyDiagnosis) =>
  diagnosis.ranked.map(({ scenario, divergence, score }) => [scenario.title, divergence, score])

describe('the planted change is the best scenario', () => {
  test.each([
    ['network to stock serve stock as after', { slower: { stock: { networkUs: 4000 } } }],
    ['network to cart serve cart as after', { slower: { cart: { networkUs: 6000 } } }],
    ['server time of db serve db as after', { slower: { db: { serverUs: 3000 } } }],
    ['mix of requests by cache.hit as after (true 60 % instead of 27 %)', { hitRate: 0.6 }],
  ])('%s', (title, change) => {
    const diagnosis = diagnoseLatency(before, afterWith(change))
    expect(bestTitle(diagnosis)).toBe(title)
    expect(diagnosis.best).toMatchObject({ significant: true, rank: 1, depth: 1 })
    expect(diagnosis.best?.gain).toBeGreaterThan(0.8)
  })

  test.each(['kl', 'wasserstein', 'ks'] as const)('by %s', (divergence) => {
    const after = afterWith({ slower: { db: { serverUs: 3000 } } })
    expect(bestTitle(diagnoseLatency(before, after, { divergence }))).toBe(
      'server time of db serve db as after',
    )
  })

  test('one host that was slow', () => {
    const slow = serviceTraces({
      ...SIMULATED,
      seed: 3,
      slowHostUs: 20_000,
      services: { web: SERVICES.stock },
    })
    const well = serviceTraces({ ...SIMULATED, seed: 4, services: { web: SERVICES.stock } })
    const { best } = diagnoseLatency(slow, well)
    expect(best?.scenario.title).toBe('server time of web serve web on host web-0 as after')
    expect(best?.significant).toBe(true)
  })

  test('a wish: which service must be faster, and how much', () => {
    const p99Us = diagnoseLatency(before, afterWith({}), { depth: 1 }).base.quantile(0.99)
    const diagnosis = diagnoseLatency(before, { quantile: 0.99, belowUs: p99Us * 0.8 })
    expect(diagnosis.targetTitle).toMatch(/^99 % of requests in at most 1\d(\.\d)? ms$/)
    expect(diagnosis.best?.p99Us).toBeLessThan(p99Us)
    expect(diagnosis.best?.scenario.title).toMatch(/ × 0\.[58]$/)
    expect(diagnosis.ranked.every(({ q }) => Number.isNaN(q))).toBe(true)
  })

  test('a histogram', () => {
    const { target } = diagnoseLatency(before, afterWith({ slower: { db: { serverUs: 3000 } } }))
    const edges = Array.from({ length: 31 }, (_, i) => i * 1000)
    const counts = edges
      .slice(1)
      .map((edge) => target.latencyUs.filter((us) => us >= edge - 1000 && us < edge).length)
    const diagnosis = diagnoseLatency(before, { edges, counts }, { factors: [0.5, 3] })
    expect(diagnosis.best?.gain).toBeGreaterThan(0.3)
    expect(diagnosis.best?.scenario.title).toContain('× 3')
    expect(diagnosis.changeP).toBe(0.002)
  })
})

describe('the tree', () => {
  const after = afterWith({ slower: { db: { serverUs: 3000 } } })
  const diagnosis = diagnoseLatency(before, after)

  test('has what lies within under what it lies within, best first, scored among its siblings', () => {
    const { tree, ranked } = diagnosis
    expect(tree[0]?.rank).toBe(1)
    expect(tree[0]?.score).toBe(0)
    expect(Math.max(...tree.map(({ score }) => score))).toBeGreaterThan(0.9)
    for (const { children, depth } of ranked) {
      expect(children.map(({ rank }) => rank)).toEqual(
        children.map(({ rank }) => rank).sort((a, b) => a - b),
      )
      for (const child of children) expect(child.depth).toBe(depth + 1)
    }
    expect(ranked.map(({ rank }) => rank)).toEqual(ranked.map((_, i) => i + 1))
  })

  test('leads from a caller down to the cause', () => {
    const caller = diagnosis.ranked.find(({ scenario }) =>
      scenario.title.startsWith('server time of price'),
    )
    expect(caller?.children[0]?.scenario.title).toBe(
      'server time of db serve db called by price as after',
    )
  })

  test('as a table: one row a scenario, parents by rank', () => {
    const table = diagnosis.table()
    expect(table.columnNames()).toEqual([
      'rank',
      'depth',
      'parent',
      'scenario',
      'service',
      'operation',
      'score',
      'divergence',
      'gain',
      'distanceUs',
      'p50Us',
      'p90Us',
      'p99Us',
      'requests',
      'statistic',
      'q',
      'significant',
    ])
    expect(table.numRows()).toBe(diagnosis.size)
    const ranks = table.array('rank')
    for (const [row, { parent }] of diagnosis.ranked.entries()) {
      expect(table.get('parent', row)).toBe(parent === null ? 0 : ranks[parent.rank - 1])
    }
  })

  test('depth, beam, pruning and minimum gain limit it', () => {
    const depths = (options: Partial<DiagnosisOptions>) =>
      new Set(diagnoseLatency(before, after, options).ranked.map(({ depth }) => depth)).size
    expect(depths({ depth: 1 })).toBe(1)
    expect(depths({ minimumGain: 1 })).toBe(1)
    const parents = (options: Partial<DiagnosisOptions>) =>
      diagnoseLatency(before, after, { depth: 2, ...options }).ranked.filter(
        ({ children }) => children.length > 0,
      ).length
    expect(parents({ beam: 1 })).toBe(1)
    expect(parents({ pruning: 0 })).toBe(1)
    expect(parents({})).toBeGreaterThan(1)
  })

  test('profiles: the one of a rank, between base and target', () => {
    const { profile, before: base, target, touched } = diagnosis.profile(1)
    expect(profile.quantile(0.5)).toBe(diagnosis.best?.p50Us)
    expect(base.latencyUs).toEqual(diagnosis.base.latencyUs)
    expect(target).toBe(diagnosis.target)
    expect(touched).toBe(diagnosis.best?.touched)
    expect(diagnosis.profile(1).table().columnNames()).toContain('targetUs')
    expect(() => diagnosis.profile(0)).toThrow(`Give a rank from 1 to ${diagnosis.size}.`)
  })

  test('its scenarios can be applied by themselves', () => {
    const { best, models } = diagnosis
    if (best === null) throw new Error('nothing was tried')
    expect(applyScenario(models, best.scenario).quantiles.p99Us).toBe(best.p99Us)
  })

  test('structural scenarios, services and features can be left out or chosen', () => {
    const kinds = (options: Partial<DiagnosisOptions>) =>
      diagnoseLatency(before, after, { depth: 1, ...options }).ranked.map(
        ({ scenario }) => scenario,
      )
    expect(kinds({ structural: false }).filter(({ kind }) => kind === 'reweight')).toEqual([])
    expect(kinds({ services: false }).filter(({ service }) => service === 'db')).toEqual([])
    const hosts = kinds({ features: ['host'] }).filter(({ kind }) => kind === 'reweight')
    expect(hosts.map(({ title }) => title)).toEqual(['mix of requests by host as after'])
  })
})

describe('what does not count', () => {
  test('the same input gives the same diagnosis; samples depend on the seed only', () => {
    const after = afterWith({ slower: { cart: { serverUs: 2000 } } })
    const options = { sampleSize: 100, depth: 2 }
    const first = facts(diagnoseLatency(before, after, options))
    expect(facts(diagnoseLatency(before, after, options))).toEqual(first)
    expect(facts(diagnoseLatency(before, after, { ...options, seed: 2 }))).not.toEqual(first)
  })

  test('a period against itself: nothing gains, nothing is significant', () => {
    const diagnosis = diagnoseLatency(before, before)
    expect(diagnosis.changeP).toBe(1)
    expect(diagnosis.ranked.filter(({ significant }) => significant)).toEqual([])
    expect(
      diagnosis.ranked
        .filter(({ scenario }) => scenario.kind !== 'partition' && scenario.kind !== 'reweight')
        .every(({ gain }) => gain === 0),
    ).toBe(true)
  })

  test('two samples of the same services: nothing is significant in 15 of 15', {
    tags: 'full',
  }, () => {
    for (let seed = 10; seed < 25; seed++) {
      const again = serviceTraces({ ...SIMULATED, seed })
      const found = diagnoseLatency(before, again, { depth: 2 }).ranked.filter(
        ({ significant }) => significant,
      )
      expect(
        found.map(({ scenario }) => scenario.title),
        `seed ${seed}`,
      ).toEqual([])
    }
  })

  test('a single request of each period can be compared, without significance', () => {
    const one = serviceTraces({ ...SIMULATED, hitRate: 0, requests: 1, seed: 1 })
    const other = serviceTraces({ ...SIMULATED, hitRate: 0, requests: 1, seed: 2 })
    const diagnosis = diagnoseLatency(one, other)
    expect(diagnosis.size).toBeGreaterThan(5)
    expect(diagnosis.ranked.some(({ significant }) => significant)).toBe(false)
  })
})

describe('step by step', () => {
  const after = afterWith({ slower: { db: { serverUs: 3000 } } })

  test('ends with what diagnoseLatency gives at once', async () => {
    let last = null
    let steps = 0
    for await (const step of diagnoseLatencyStepwise(before, after, { depth: 2 })) {
      steps++
      expect(step.tried).toBeLessThanOrEqual(step.planned)
      expect(step.diagnosis.state).toBe(step.tried < steps ? 'complete' : 'running')
      last = step
    }
    expect(last?.diagnosis.state).toBe('complete')
    expect(last?.tried).toBe(last?.planned)
    expect(facts(last?.diagnosis as LatencyDiagnosis)).toEqual(
      facts(diagnoseLatency(before, after, { depth: 2 })),
    )
  })

  test('stopped by a signal after n scenarios, it gives what was found with these', async () => {
    const controller = new AbortController()
    let last = null
    for await (const step of diagnoseLatencyStepwise(before, after, {
      signal: controller.signal,
    })) {
      last = step
      if (step.tried === 7) controller.abort()
    }
    expect(last?.tried).toBe(7)
    expect(last?.diagnosis).toMatchObject({ state: 'interrupted', size: 7 })
    expect(last?.diagnosis.best?.rank).toBe(1)
    expect(last?.diagnosis.table().numRows()).toBe(7)
  })

  test('an earlier step keeps what it had', async () => {
    let first: LatencyDiagnosis | undefined
    for await (const step of diagnoseLatencyStepwise(before, after)) {
      first ??= step.diagnosis
      if (step.tried === 5) break
    }
    expect(first?.size).toBe(1)
  })

  test('a signal that is given beforehand stops diagnoseLatency too', () => {
    const diagnosis = diagnoseLatency(before, after, { signal: AbortSignal.abort() })
    expect(diagnosis).toMatchObject({ state: 'interrupted', size: 1 })
  })
})

describe('says what is wrong', () => {
  const after = afterWith({})

  test('options', () => {
    const withOptions = (options: object) => () => diagnoseLatency(before, after, options)
    expect(withOptions({ deph: 3 })).toThrow('There is no option deph.')
    expect(withOptions({ depth: 0 })).toThrow('Option depth is 0')
    expect(withOptions({ divergence: 'js' })).toThrow(`Option divergence is "js". Give 'kl'`)
    expect(withOptions({ pruning: 2 })).toThrow('Option pruning is 2')
    expect(withOptions({ factors: [-1] })).toThrow('Option factors[0] is -1')
    expect(withOptions({ features: ['color'] })).toThrow('Option features is "color"')
  })

  test('traces that are no spans, or none', () => {
    const graphs = makeGraphs(chains(['a', 'b'], [1, 2]))
    expect(() => diagnoseLatency(graphs, after)).toThrow('The traces of before (graphs) are graphs')
    expect(() => diagnoseLatency(before, graphs)).toThrow(
      'The traces of target (graphs) are graphs',
    )
    expect(() => diagnoseLatency(before, makeSpans([], 'empty'))).toThrow(
      'There are no traces in target (empty).',
    )
  })

  test('targets that are none', () => {
    expect(() => diagnoseLatency(before, {} as never)).toThrow('Option target is')
    expect(() => diagnoseLatency(before, { quantile: 0.99, belowUs: 1e9 })).toThrow(
      /p99 below 16\.7 min, but it is .* already\. Give a shorter time\./,
    )
  })
})
