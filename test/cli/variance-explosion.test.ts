import { expect, test } from 'vitest'
import { flowdelta, ROOT } from './run-cli.ts'

const FILE = `${ROOT}datasets/storage-service/delay-1ms/after.jsonl.gz`

test('variance ranks categories by C² and says where their variance is', async () => {
  const { code, out } = await flowdelta('variance', FILE, '--json')
  expect(code).toBe(0)
  const document = JSON.parse(out)
  expect(document.schema).toBe('flowdelta.variance/1')
  const c2 = document.categories.map((category: { c2: number }) => category.c2)
  expect(c2).toEqual([...c2].sort((a, b) => b - a))
  expect(document.shareBelowOne).toBe(c2.filter((value: number) => value < 1).length / c2.length)
  for (const { requests, edges, note } of document.categories.slice(0, 5)) {
    expect(requests).toBeGreaterThan(10)
    const shares = edges.reduce(
      (sum: number, edge: { varianceShare: number }) => sum + edge.varianceShare,
      0,
    )
    if (note === 'Shares add up to 1.') expect(shares).toBeCloseTo(1, 6)
  }
  const text = await flowdelta('variance', FILE, '--limit', '2', '--large', '100')
  expect(text.out).toMatch(/categories of more than 100 requests; C² below 1 in \d+ % of them/)
  expect(text.out).toContain('raise --limit')
})

test('explosion counts what remedies would do', async () => {
  const { code, out } = await flowdelta('explosion', FILE, '--json')
  expect(code).toBe(0)
  const document = JSON.parse(out)
  expect(document).toMatchObject({
    schema: 'flowdelta.explosion/1',
    requests: 10_000,
    expected: null,
  })
  expect(document.remedies.map(({ remedy }: { remedy: string }) => remedy)).toContain('omit hosts')
  const expected = await flowdelta('explosion', FILE, '--json', '--hosts', '10', '--replicas', '3')
  expect(JSON.parse(expected.out).expected).toMatchObject({ possible: 720 })
  const wrong = await flowdelta('explosion', FILE, '--hosts', '10')
  expect(wrong).toMatchObject({ code: 2 })
  expect(wrong.err).toContain('--hosts and --replicas belong together')
  const text = await flowdelta('explosion', FILE)
  expect(text.out).toContain('10,000 requests are in')
})
