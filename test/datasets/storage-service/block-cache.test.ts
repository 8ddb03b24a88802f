import { describe, expect, test } from 'vitest'
import { BlockCache } from '../../../datasets/storage-service/front-end/block-cache.ts'
import { blockParts, runs } from '../../../datasets/storage-service/front-end/block-range.ts'

const bytes = Buffer.alloc(1)

describe('the block cache', () => {
  test('lets the least recently used block go', () => {
    const cache = new BlockCache(2)
    cache.add('f', 0, bytes)
    cache.add('f', 1, bytes)
    cache.get('f', 0)
    cache.add('f', 2, bytes)
    expect(cache.get('f', 1)).toBeUndefined()
    expect(cache.get('f', 0)).toBeDefined()
    expect(cache.get('f', 2)).toBeDefined()
  })

  test('keeps dirty blocks and those being written back, even beyond its capacity', () => {
    const cache = new BlockCache(1)
    cache.add('f', 0, bytes).dirty = true
    cache.add('f', 1, bytes).writeBack = Promise.resolve()
    cache.add('f', 2, bytes)
    expect(cache.size).toBe(3)
    cache.add('f', 3, bytes)
    expect(cache.get('f', 2)).toBeUndefined()
    expect(cache.size).toBe(3)
  })

  test('takes a block back that had to go while somebody was writing to it', () => {
    const cache = new BlockCache(1)
    const block = cache.add('f', 0, bytes)
    cache.add('f', 1, bytes)
    expect(cache.get('f', 0)).toBeUndefined()
    block.dirty = true
    cache.keep(block)
    expect(cache.get('f', 0)).toBe(block)
  })

  test('lists the dirty blocks of one file or of all, the oldest first', () => {
    const cache = new BlockCache(9)
    cache.add('a', 0, bytes).dirty = true
    cache.add('b', 0, bytes).dirty = true
    cache.add('a', 1, bytes)
    cache.get('a', 0)
    expect(cache.dirty().map(({ file }) => file)).toEqual(['b', 'a'])
    expect(cache.dirty('a').map(({ number }) => number)).toEqual([0])
  })

  test('drops a file and nothing of a file whose name begins alike', () => {
    const cache = new BlockCache(9)
    cache.add('a', 0, bytes)
    cache.add('a#1', 0, bytes)
    expect(cache.drop('a').map(({ number }) => number)).toEqual([0])
    expect(cache.size).toBe(1)
  })
})

describe('the blocks a request touches', () => {
  test.each([
    [0, 0, []],
    [0, 16384, [[0, 0, 16384]]],
    [4096, 4096, [[0, 4096, 8192]]],
    [
      12288,
      8192,
      [
        [0, 12288, 16384],
        [1, 0, 4096],
      ],
    ],
    [
      16384,
      32768,
      [
        [1, 0, 16384],
        [2, 0, 16384],
      ],
    ],
  ])('offset %i, %i bytes', (offset, count, expected) => {
    const parts = blockParts(offset, count).map(({ number, from, to }) => [number, from, to])
    expect(parts).toEqual(expected)
  })

  test('missing blocks are fetched in runs', () => {
    expect(runs([])).toEqual([])
    expect(runs([3])).toEqual([{ first: 3, length: 1 }])
    expect(runs([0, 1, 3, 4, 5])).toEqual([
      { first: 0, length: 2 },
      { first: 3, length: 3 },
    ])
  })
})
