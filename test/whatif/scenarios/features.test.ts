import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../../src/whatif/recompute/request-model.ts'
import {
  attributeFeatures,
  chooseFeature,
  type FeatureChoice,
} from '../../../src/whatif/scenarios/features.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

const modelOf = (spans: readonly SpanSketch[]) =>
  new RequestModel(learnExecutionModels(makeSpans(spans)), 0)

/** What each request is called, in order. */
function requestKinds(spans: readonly SpanSketch[], by: FeatureChoice): (string | undefined)[] {
  const { codes, names } = chooseFeature(by).ofRequests(modelOf(spans))
  return Array.from(codes, (code) => names[code])
}

const request = (i: number, startUs: number, more: Partial<SpanSketch> = {}): SpanSketch => ({
  trace: `t${i}`,
  id: 'web',
  startUs,
  endUs: startUs + 1000,
  ...more,
})

describe('features of requests', () => {
  test('load: requests of the second up to the start, in powers of two', () => {
    const starts = [0, 100_000, 200_000, 1_100_000, 5_000_000]
    const spans = starts.map((startUs, i) => request(i, startUs))
    expect(requestKinds(spans, 'load')).toEqual(['1/s', '2-3/s', '2-3/s', '2-3/s', '1/s'])
  })

  test('order of recording does not matter for load', () => {
    const spans = [request(0, 900_000), request(1, 0, { endUs: 950_000 })]
    expect(requestKinds(spans, 'load')).toEqual(['2-3/s', '1/s'])
  })

  test('host, nothing where none was recorded', () => {
    expect(requestKinds([request(0, 0, { host: 'a' }), request(1, 0)], 'host')).toEqual([
      'a',
      undefined,
    ])
  })

  test('calls: what the request calls, the same whatever the order of recording', () => {
    const call = (trace: string, id: string, startUs: number): SpanSketch => ({
      trace,
      id,
      parent: 'web',
      service: id.slice(0, 1),
      startUs,
      endUs: startUs + 10,
    })
    const spans = [
      request(0, 0),
      call('t0', 'a1', 10),
      call('t0', 'b1', 30),
      call('t0', 'a2', 50),
      request(1, 0),
      call('t1', 'a2', 50),
      call('t1', 'b1', 30),
      call('t1', 'a1', 10),
      request(2, 0),
    ]
    const both = '2 × a call, b call'
    expect(requestKinds(spans, 'calls')).toEqual([both, both, 'nothing'])
  })

  test('an attribute of the first call that has it', () => {
    const spans = [
      request(0, 0, { attributes: { hit: true } }),
      request(1, 0),
      { trace: 't1', id: 'db', parent: 'web', startUs: 1, endUs: 2, attributes: { hit: false } },
      request(2, 0),
    ]
    expect(requestKinds(spans, 'attribute:hit')).toEqual(['true', 'false', undefined])
  })
})

describe('attributeFeatures', () => {
  const spans = Array.from({ length: 80 }, (_, i) => {
    const size = (i * 37) % 40
    return request(i, i, {
      endUs: i + (size > 25 ? 9000 : 1000) + (i % 7),
      attributes: {
        hit: i < 15,
        id: i,
        rare: i < 2,
        always: 1,
        size,
        noise: (i * 53) % 31,
        region: i % 3,
        ...(i % 4 === 0 && { retried: true, attempts: 2 }),
      },
    })
  })
  const found = attributeFeatures([modelOf(spans).forest], 10)

  test('finds what divides requests in a few large parts, numbers that tell times, and presence', () => {
    expect(found.map(({ name }) => name)).toEqual([
      'attribute:hit',
      'attribute:region',
      'attribute:size',
      'has:retried',
    ])
  })

  test('cuts a number between slow and fast ones', () => {
    const size = found.find(({ name }) => name === 'attribute:size')
    expect(size?.ofRequests(modelOf(spans)).names.toSorted()).toEqual(['> 25', '≤ 25'])
  })

  test('divides by an attribute that some have, and by an event of several', () => {
    const events = ['wake', 'sleep'].flatMap((event, i) => [
      request(i, 0, { attributes: { event } }),
    ])
    expect(requestKinds([...events, request(2, 0)], 'event:sleep')).toEqual([
      'absent',
      'present',
      'absent',
    ])
    expect(requestKinds(spans.slice(0, 2), 'has:retried')).toEqual(['present', 'absent'])
  })

  test('none where nothing was recorded', () => {
    expect(attributeFeatures([modelOf([request(0, 0)]).forest], 1)).toEqual([])
  })
})
