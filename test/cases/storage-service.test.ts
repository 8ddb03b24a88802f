import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { labelDifference } from '../../src/compare/precursors/match-precursors.ts'
import { recordedCase } from '../recorded.ts'

const DATA = fileURLToPath(new URL('../../datasets/storage-service/', import.meta.url))

const truth = (name: string) => JSON.parse(readFileSync(`${DATA}${name}/truth.json`, 'utf8'))

describe('delay-1ms', async () => {
  const comparison = await recordedCase('delay-1ms')
  const [first] = comparison.ranking.mutations

  test('nothing was left out of the recording', () => {
    expect(comparison.before.quality().counts.size + comparison.after.quality().counts.size).toBe(0)
  })

  test('the first-ranked mutation is one of response time', () => {
    expect(first?.kind).toBe('response-time')
    expect(comparison.structural.mutations).toEqual([])
  })

  test('its edge that changed most is the planted one', () => {
    const { service, operation, point } = truth('delay-1ms').relevant.changedEdge.to
    const edges = comparison.responseTime
      .edges(first?.category as number)
      .filter((edge) => edge.test?.rejected)
    const worst = edges.reduce((a, b) =>
      b.afterMeanUs - b.beforeMeanUs > a.afterMeanUs - a.beforeMeanUs ? b : a,
    )
    const planted = service.map((name: string) => `${name}-0 ${operation} ${point}`)
    expect(planted).toContain(worst.edge.to)
    expect(worst.afterMeanUs - worst.beforeMeanUs).toBeGreaterThan(500)
  })
})

describe('rmw', async () => {
  const comparison = await recordedCase('rmw')
  const [first] = comparison.ranking.mutations
  const { root, addedNode } = truth('rmw').relevant

  test('the first-ranked mutation is structural, of the planted request type', () => {
    expect(first?.kind).toBe('structural')
    expect(comparison.categories.root(first?.category as number)).toBe(
      `${root.service}-0 ${root.operation} call`,
    )
  })

  test('it does what its likeliest precursor does, and reads the block first', () => {
    const { categories } = comparison
    const [precursor] = first?.precursors ?? []
    const { added, removed } = labelDifference(
      categories.structure(precursor?.category as number),
      categories.structure(first?.category as number),
    )
    expect(added.map(({ label }) => label)).toContain(
      `${addedNode.service}-0 ${addedNode.operation} ${addedNode.point}`,
    )
    expect(removed).toEqual([])
  })

  test('with another threshold only what it reaches is computed again', () => {
    const other = comparison.with({ smPThreshold: 10 })
    expect(other.categories).toBe(comparison.categories)
    expect(other.responseTime).toBe(comparison.responseTime)
    expect(other.ranking.mutations[0]?.category).toBe(first?.category)
  })
})
