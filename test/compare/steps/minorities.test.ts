import { describe, expect, test } from 'vitest'
import type { StepSample } from '../../../src/compare/steps/step-strata.ts'
import { minorityOf } from '../../../src/compare/steps/tail-counts.ts'
import { compare } from '../../../src/index.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { firstQuick } from '../../first-quick.ts'
import { call, record } from '../../worlds.ts'
import { type MinorityPeriod, minorityPeriod } from './minority-traces.ts'

type Slow = Required<Pick<MinorityPeriod, 'noise' | 'share' | 'factor'>> &
  Pick<MinorityPeriod, 'within'>

function comparedWith(slow: Slow, seed: number) {
  const before = minorityPeriod('b', { requests: 800, seed: 2 * seed, noise: slow.noise })
  const after = minorityPeriod('a', { requests: 800, seed: 2 * seed + 1, ...slow })
  return { ...after, comparison: compare(before.traces, after.traces) }
}

describe('a minority of the calls of one of eight services is slow', () => {
  describe.each(
    firstQuick<Slow & { seed: number }>([
      { noise: { sigma: 0.3 }, share: 0.03, factor: 30, seed: 1 },
      { noise: { sigma: 1.5 }, share: 0.1, factor: 30, seed: 3 },
      { noise: { pareto: 1.8 }, share: 0.3, factor: 5, seed: 6 },
    ]),
  )('of any noise', ({ rows, tags }) => {
    test.each(rows)(
      '$noise, $share of them times $factor: it is the first finding, priced',
      { tags },
      ({ seed, ...slow }) => {
        const { comparison, plantedUs } = comparedWith(slow, seed)
        const [first, ...others] = comparison.findings.findings
        expect(first).toMatchObject({ kind: 'latency', direction: 'slower', services: ['s3'] })
        expect(others.filter(({ kind }) => kind !== 'unattributed')).toEqual([])
        const [step] = first?.steps ?? []
        // D is a lower bound; of heavy tails, calls that are slow stay among the usual ones.
        expect(step?.share).toBeGreaterThan(slow.share / 3)
        expect(step?.share).toBeLessThan(1.6 * slow.share)
        const { contributionUs = 0, requests = 0 } = first ?? {}
        expect(contributionUs / plantedUs).toBeGreaterThan(0.6)
        expect(contributionUs / plantedUs).toBeLessThan(1.5)
        expect(requests).toBe(Math.round((step?.share ?? 0) * 800))
      },
    )
  })

  describe.each([
    { seed: 1, tags: [] },
    { seed: 2, tags: ['full'] },
    { seed: 3, tags: ['full'] },
  ])('seed $seed', ({ seed, tags }) => {
    test('5 % of them are slow from half-way on: it is found', { tags }, () => {
      const slow = { share: 0.05, factor: 20, within: [0.5, 1] } as const
      const { findings } = comparedWith({ noise: { sigma: 0.3 }, ...slow }, seed).comparison
        .findings
      expect(findings.map(({ title }) => title)).toEqual([
        expect.stringMatching(/^s3: S3 itself takes 1[34]\d ms longer in 3 % of the calls$/),
      ])
    })

    test('as many are slow in one burst: this may be chance', { tags }, () => {
      const slow = { share: 1, factor: 20, within: [0.5, 0.525] } as const
      const { comparison, slowCalls } = comparedWith({ noise: { sigma: 0.3 }, ...slow }, seed)
      expect(slowCalls).toBe(20)
      expect(comparison.findings.findings).toEqual([])
    })
  })

  test('it is told how many, by how much, and what is usual', () => {
    const slow = { noise: { sigma: 0.3 }, share: 0.12, factor: 20 } as const
    const [first] = comparedWith(slow, 7).comparison.findings.findings
    expect(first?.title).toMatch(/^s3: S3 itself takes 1\d\d ms longer in 1[1-3] % of the calls$/)
    expect(first?.text).toMatch(
      /the slow calls take 1\d\d ms \(median\); before, calls took 7\.\d+ ms( ·|$)/,
    )
  })

  describe.each(
    firstQuick([
      ['slower', 'after'],
      ['faster', 'before'],
    ] as const),
  )('in either period', ({ rows, tags }) => {
    test.each(rows)('%s: examples %s are typical of the slow calls', { tags }, (_, slowIn) => {
      const slow = { noise: { sigma: 0.3 }, share: 0.12, factor: 20 } as const
      const usual = { requests: 800, noise: slow.noise }
      const { findings, flows, steps } = compare(
        minorityPeriod('b', { ...usual, seed: 1, ...(slowIn === 'before' ? slow : {}) }).traces,
        minorityPeriod('a', { ...usual, seed: 2, ...(slowIn === 'after' ? slow : {}) }).traces,
      )
      const [first] = findings.findings
      const times = steps.times.find(({ kind, service }) => kind === 'work' && service === 's3')
      const sample = times?.strata[0]?.[slowIn]
      const timeOf = (id: string) => sample?.values[sample.requests.indexOf(flows.ids.indexOf(id))]
      const { changedUs = 0 } =
        steps.changes.find(({ service }) => service === 's3')?.minority ?? {}
      expect(changedUs).toBeGreaterThan(100_000)
      const shown = first?.exemplars[slowIn].map((id) => (timeOf(id) ?? 0) / changedUs)
      expect(shown).toHaveLength(3)
      for (const one of shown ?? []) expect(Math.abs(one - 1)).toBeLessThan(0.05)
    })
  })

  test('the other way round, they are no longer slow', () => {
    const slow = { noise: { sigma: 0.3 }, share: 0.12, factor: 20 } as const
    const [before, after] = [
      minorityPeriod('b', { requests: 800, seed: 1, ...slow }),
      minorityPeriod('a', { requests: 800, seed: 2, noise: slow.noise }),
    ]
    const [first] = compare(before.traces, after.traces).findings.findings
    expect(first?.title).toMatch(/^s3: S3 itself takes 1\d\d ms less in (9|1[0-3]) % of the calls$/)
    expect(first?.text).toMatch(/ · before, these calls took 1\d\d ms \(median\), all calls [78]/)
  })
})

test.each([
  { share: 0.02, times: 100 },
  { share: 0.05, times: 10 },
  { share: 0.1, times: 50 },
  { share: 0.25, times: 5 },
])(
  '$share of calls $times spreads longer are counted and sized, whatever single ones do',
  (slow) => {
    const [shares, sizes] = [[] as number[], [] as number[]]
    for (let seed = 1; seed <= 21; seed++) {
      const random = randomSource(seed)
      let [planted, count] = [0, 0]
      const sample = (share: number): StepSample => {
        const values = Float64Array.from({ length: 1000 }, (_, i) => {
          const isSlow = random.next() < share
          const usual = 1000 * Math.exp(0.4 * random.normal()) + (isSlow || i > 0 ? 0 : 5e5)
          if (!isSlow) return usual
          const addedUs = 400 * slow.times * Math.exp(0.2 * random.normal())
          planted += addedUs
          count++
          return usual + addedUs
        }).sort()
        const [requests, critical] = [
          Uint32Array.from(values.keys()),
          new Uint32Array(1000).fill(1),
        ]
        const times = {
          values,
          requests,
          critical,
          criticalUs: values,
          blocks: new Uint8Array(1000),
        }
        return { ...times, recorded: times, calls: 1000, criticalCalls: 1000, cutUs: 0 }
      }
      const stratum = {
        operation: 'a',
        callingOperation: '',
        isUnanswered: false,
        before: sample(0),
        after: sample(slow.share),
      }
      const found = minorityOf([stratum])
      const { share = 0, requests = [] } = found?.minority ?? {}
      expect(requests).toHaveLength(Math.round(share * 1000))
      shares.push((share * 1000) / count)
      sizes.push((found?.excess(false).us ?? 0) / (share * 1000) / (planted / count))
    }
    for (const errors of [shares, sizes]) {
      errors.sort((a, b) => a - b)
      expect(Math.abs((errors[10] as number) - 1)).toBeLessThan(0.1)
      expect(errors[4]).toBeGreaterThan(0.8)
      expect(errors[16]).toBeLessThan(1.25)
    }
  },
)

test('the findings add up to the change that is clear, or one says what is not attributed', {
  tags: 'full',
}, () => {
  for (let seed = 1; seed <= 12; seed++) {
    const share = [0.03, 0.1, 0.3][seed % 3] as number
    const factor = [3, 10, 30][(seed % 4) % 3] as number
    const { findings } = comparedWith(
      { noise: { sigma: 0.8 }, share, factor },
      50 + seed,
    ).comparison
    const request = findings.findings.some(({ kind }) => kind === 'unattributed')
    const accounted = findings.findings.reduce((sum, one) => sum + one.contributionUs, 0)
    if (!findings.changeIsClear || findings.findings.length === 0 || request) continue
    expect(accounted / findings.observedChangeUs).toBeGreaterThan(0.6)
  }
})

test('medians told beside a span within an operation are of that span', () => {
  //  beacon Beat     ├─────────────────────┤ 5 ms more than
  //  beacon publish    ├────────┤            1 ms, of 15 % of the calls after 41 ms
  const period = (name: string, slowUs: number) =>
    record({ seed: name === 'before' ? 1 : 2, requests: 600, name }, (r) => {
      const publish = call('beacon publish', r.about(1000) + (r.is(0.15) ? slowUs : 0))
      return call('beacon Beat', [0, 5000], {}, [publish])
    })
  const [finding] = compare(period('before', 0), period('after', 40_000)).findings.findings
  expect(finding?.title).toMatch(/^beacon: publish within Beat takes 4\d.* longer in 1\d % of the/)
  expect(finding?.text).toMatch(
    / its median is 4[01](\.\d+)? ms in these requests; before, (99\d µs|1(\.0\d?)? ms) in all/,
  )
})

test.each([1, 2])(
  'what is called where a cache misses is named, asked %i times a request',
  (times) => {
    //  web GET            ├──────────────────────────────────────┤
    //  web call            ├──────────────────────┤
    //  fares Quote          ├─────────────────────┤  of 15 %, which miss,
    //  fares POST shop         ├──────────────┤      150 ms, after 60 ms more
    const period = (name: string, slowUs: number) =>
      record({ seed: name === 'before' ? 1 : 2, requests: 600, everyUs: 1e7, name }, (r) => {
        const quotes = Array.from({ length: times }, () => {
          const [isHit, ownUs] = [!r.is(0.15), r.about(3000)]
          const shop = !isHit && call('fares POST shop', r.about(150_000, 0.1) + slowUs)
          const client = { us: [50, 50], operation: 'call' } as const
          const how = { attributes: { 'cache.hit': isHit }, client }
          return call('fares Quote', [ownUs, 500], how, [shop])
        })
        return call('web GET', [1000, 2000], {}, quotes)
      })
    const [finding] = compare(period('before', 0), period('after', 60_000)).findings.findings
    // With a call a request, the step itself is sure; misses are all that make it.
    const scope = times === 1 ? '' : ', only where fares cache\\.hit = false'
    expect(finding?.title).toMatch(
      new RegExp(
        `^fares: POST shop within Quote takes (5[89]|6\\d)(\\.\\d+)? ms longer( per call)?${scope}$`,
      ),
    )
    expect(finding?.text).not.toMatch(/ 0 µs/)
  },
)

test.each([
  ['of a cache that hits less often', { before: 0.15, after: 0.75 }, 1],
  ['in a few requests, one after another', { before: 0, after: 0.12 }, 8],
])('a call that is made more often is not told to take longer: %s', (_, share, times) => {
  const period = (name: 'before' | 'after') =>
    record({ seed: name.length, requests: 600, name }, (r) => {
      const [ownUs, length] = [r.about(1000), r.is(share[name]) ? times : 0]
      const calls = Array.from({ length }, () => call('user SELECT', r.about(5000)))
      return call('user GET', [ownUs, 0], {}, calls)
    })
  const [first, ...others] = compare(period('before'), period('after')).findings.findings
  expect(others).toEqual([])
  expect(first?.kind).toBe('structure')
  const [also] = first?.consequences ?? []
  expect(also?.title).toMatch(
    /^user: GET takes \d+(\.\d+)? ms longer( in 1\d % of the calls)?, because it calls SELECT more often$/,
  )
})
