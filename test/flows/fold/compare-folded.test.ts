import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { FoldedFlows } from '../../../src/flows/fold/folded-flows.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** Requests that write 2 to 5 blocks one after the other, each on another host. */
function writes(blockUs: number): SpanSketch[] {
  return Array.from({ length: 120 }, (_, i) => {
    const blocks = 2 + (i % 4)
    const trace = `t${i}`
    return [
      {
        trace,
        id: `w${i}`,
        service: 'client',
        operation: 'write',
        startUs: 0,
        endUs: 10 + 300 * blocks,
      },
      ...Array.from({ length: blocks }, (_, block) => ({
        trace,
        id: `b${i}.${block}`,
        parent: `w${i}`,
        service: 'node',
        operation: 'block',
        host: `node${(i + block) % 7}`,
        startUs: 5 + 300 * block,
        endUs: 5 + 300 * block + blockUs + ((i * 31 + block) % 40),
      })),
    ]
  }).flat()
}

describe('comparing what is folded', () => {
  const [before, after] = [makeSpans(writes(100), 'before'), makeSpans(writes(200), 'after')]
  const comparison = compare(before, after, { omitHosts: true })

  test('folds loops before requests are categorized', () => {
    expect(comparison.flows).not.toBeInstanceOf(FoldedFlows)
    const folded = comparison.with({ fold: 'log2' })
    expect(folded.flows).toBeInstanceOf(FoldedFlows)
    expect(comparison.categories.size).toBe(4)
    expect(comparison.with({ fold: 'exact' }).categories.size).toBe(4)
    expect(folded.categories.size).toBe(2)
    expect(folded.categories.nodeCount(0)).toBe(4)
    expect(folded.findings.findings.map(({ title }) => title)).toContainEqual(
      expect.stringMatching(/^node: block itself takes 100 µs longer/),
    )
  })

  test('hosts are dropped before, where they do not count', () => {
    const withHosts = compare(before, after, { fold: 'log2' })
    expect(withHosts.categories.size).toBeGreaterThan(7)
    expect(withHosts.with({ omitHosts: true }).categories.size).toBe(2)
  })

  test('another value is refused', () => {
    expect(() => comparison.with({ fold: 'loops' as 'log2' }).flows).toThrow(
      'Option fold is "loops"',
    )
  })
})
