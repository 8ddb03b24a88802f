import { describe, expect, test } from 'vitest'
import { PagedIndex } from '../../../datasets/storage-service/metadata-server/paged-index.ts'
import { seededRandom } from '../../../datasets/storage-service/random.ts'
import { MemoryPages } from './memory-pages.ts'

const PAGE_BYTES = 128
const nameOf = (i: number) => `f${String(i).padStart(5, '0')}`

async function filled(names: readonly string[], pages = new MemoryPages(PAGE_BYTES)) {
  const index = await PagedIndex.create(pages)
  let deepest = 0
  let splits = 0
  for (const [i, name] of names.entries()) {
    const cost = await index.put(name, { sizeBytes: i, version: 0 })
    deepest = Math.max(deepest, cost.depth)
    splits += cost.splits
  }
  return { index, pages, deepest, splits }
}

describe('the paged index', () => {
  test('has nothing in it when it is new', async () => {
    const index = await PagedIndex.create(new MemoryPages(PAGE_BYTES))
    expect(await index.get('f00000')).toBeUndefined()
    expect(await index.remove('f00000')).toBe(false)
  })

  test.each([
    ['in order', (names: string[]) => names],
    ['backwards', (names: string[]) => names.toReversed()],
    ['shuffled', (names: string[]) => shuffled(names)],
  ])('finds each of 2,000 names put in %s, and no other', async (_, arrange) => {
    const names = arrange(Array.from({ length: 2000 }, (_, i) => nameOf(i)))
    const { index } = await filled(names)
    for (const [i, name] of names.entries()) {
      expect(await index.get(name)).toEqual({ sizeBytes: i, version: 0 })
      expect(await index.get(`${name}x`)).toBeUndefined()
    }
  })

  test('is read from its pages after a restart', async () => {
    const { pages } = await filled(Array.from({ length: 300 }, (_, i) => nameOf(i)))
    const reopened = await PagedIndex.open(pages)
    expect(await reopened.get('f00299')).toEqual({ sizeBytes: 299, version: 0 })
    await reopened.put('f00300', { sizeBytes: 300, version: 0 })
    expect(await reopened.get('f00000')).toEqual({ sizeBytes: 0, version: 0 })
  })

  test('names neighbours: those after a key, and then the first ones', async () => {
    const { index } = await filled(Array.from({ length: 300 }, (_, i) => nameOf(i)))
    expect(await index.neighbours('f00296', 5)).toEqual([297, 298, 299, 0, 1].map(nameOf))
    expect(await index.neighbours('f00100', 2)).toEqual(['f00101', 'f00102'])
    expect(await index.neighbours('f00000', 0)).toEqual([])
    expect(await index.neighbours('f00007', 1000)).toHaveLength(299)
  })

  test('replaces a record without splitting', async () => {
    const { index, pages } = await filled(['a', 'b'])
    const before = pages.pages
    expect(await index.put('a', { sizeBytes: 2 ** 40, version: 7 })).toEqual({
      splits: 0,
      depth: 1,
    })
    expect(await index.get('a')).toEqual({ sizeBytes: 2 ** 40, version: 7 })
    expect(pages.pages).toBe(before)
  })

  test('removes a name and keeps its neighbours', async () => {
    const { index } = await filled(Array.from({ length: 100 }, (_, i) => nameOf(i)))
    expect(await index.remove('f00050')).toBe(true)
    expect(await index.get('f00050')).toBeUndefined()
    expect(await index.get('f00049')).toBeDefined()
    expect(await index.get('f00051')).toBeDefined()
    expect(await index.remove('f00050')).toBe(false)
  })

  test('writes one page for a put into a page with room', async () => {
    const { index, pages } = await filled(['a'])
    pages.written.length = 0
    await index.put('b', { sizeBytes: 0, version: 0 })
    expect(pages.written).toEqual([1])
  })

  test('writes both halves, the new root and the head when the first page splits', async () => {
    const { index, pages } = await filled([
      'f00000',
      'f00001',
      'f00002',
      'f00003',
      'f00004',
      'f00005',
      'f00006',
    ])
    pages.written.length = 0
    expect(await index.put('f00007', { sizeBytes: 0, version: 0 })).toEqual({ splits: 1, depth: 1 })
    expect(pages.written).toEqual([2, 1, 3, 0])
  })

  test('splits through several levels at once, and more the larger it is', async () => {
    const small = await filled(Array.from({ length: 20 }, (_, i) => nameOf(i)))
    const large = await filled(Array.from({ length: 2000 }, (_, i) => nameOf(i)))
    expect(small.deepest).toBe(2)
    expect(large.deepest).toBe(4)
    const costs: number[] = []
    for (let i = 2000; i < 2200; i++) {
      costs.push((await large.index.put(nameOf(i), { sizeBytes: 0, version: 0 })).splits)
    }
    expect(Math.max(...costs)).toBeGreaterThanOrEqual(3)
  })

  test('says to make pages bigger when two names do not fit on one', async () => {
    const index = await PagedIndex.create(new MemoryPages(32))
    await expect(index.put('a-name-of-some-length', { sizeBytes: 0, version: 0 })).rejects.toThrow(
      'A page of 1 keys cannot be split: make the pages bigger.',
    )
  })
})

function shuffled(names: readonly string[]): string[] {
  const random = seededRandom('shuffle')
  return names
    .map((name) => ({ name, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name)
}
