import { describe, expect, test } from 'vitest'
import {
  fragmentBytes,
  fragmentsOf,
  joinFragments,
} from '../../../datasets/storage-service/metadata-server/fragments.ts'

const page = Buffer.from([1, 2, 3, 4, 5])

describe('a page spread over parts', () => {
  test('as copies is the page itself, once per part', () => {
    const copies = fragmentsOf(page, { scheme: 'replication', data: 1, parity: 2 })
    expect(copies).toEqual([page, page, page])
  })

  test('as stripes is cut up, the last one filled with zeros, beside their exclusive or', () => {
    const stripes = fragmentsOf(page, { scheme: 'erasure', data: 2, parity: 1 })
    expect(stripes.map((stripe) => [...stripe])).toEqual([
      [1, 2, 3],
      [4, 5, 0],
      [1 ^ 4, 2 ^ 5, 3],
    ])
  })

  test('is put together again from its data stripes', () => {
    const distribution = { scheme: 'erasure', data: 3, parity: 1 } as const
    const stripes = fragmentsOf(page, distribution)
    expect(fragmentBytes(5, distribution)).toBe(2)
    expect(joinFragments(stripes.slice(0, 3), 5)).toEqual(page)
  })

  test('says so when asked for more parity than it can compute', () => {
    expect(() => fragmentsOf(page, { scheme: 'erasure', data: 2, parity: 2 })).toThrow(
      '2 stripes can have one parity part, not 2.',
    )
  })
})
