import { describe, expect, test } from 'vitest'
import { every, requestsAt, type SpanSketch } from '../../make-traces.ts'
import { coded } from './coded.ts'

function ran(version: string | undefined, count = 20, service = 'shop'): SpanSketch[] {
  return requestsAt(every(1000, count), {
    service,
    trace: `${service} ${version}`,
    ...(version !== undefined && { version }),
  })
}

describe('versions-differ', () => {
  test('names the service and both versions', () => {
    const [found] = coded(
      'versions-differ',
      [...ran('1.4.0'), ...ran('7', 20, 'db')],
      [...ran('1.5.0'), ...ran('7', 20, 'db')],
    )
    expect(found?.finding).toBe('Service versions changed: shop 1.4.0 → 1.5.0.')
  })

  test('a version that is rolled out has its share', () => {
    const [found] = coded('versions-differ', ran('1'), [...ran('1', 10), ...ran('2', 30)])
    expect(found?.finding).toBe('Service versions changed: shop 1 → 2 (75 %), 1 (25 %).')
  })

  test('silent when the same two versions run in nearly the same shares', () => {
    const both = (of2: number) => [...ran('1', 100), ...ran('2', of2)]
    expect(coded('versions-differ', both(10), both(12))).toEqual([])
  })

  test('silent when shares differ by chance: 12 and 8 spans of 20 tell nothing', () => {
    const shares = (of2: number) => [...ran('1', 20 - of2), ...ran('2', of2)]
    expect(coded('versions-differ', shares(8), shares(12))).toEqual([])
  })

  test('silent when a period, or a service, does not say', () => {
    expect(coded('versions-differ', ran('1'), ran(undefined))).toEqual([])
    expect(coded('versions-differ', ran('1'), ran('2', 20, 'other'))).toEqual([])
  })
})
