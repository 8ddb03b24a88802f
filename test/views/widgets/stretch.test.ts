import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { type ComparisonSnapshot, restoreComparison } from '../../../src/comparison/snapshot.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { accountFor, ribbonOf } from '../../../src/views/charts/ribbon.ts'
import {
  shownFindings,
  typicalOf,
  undo,
} from '../../../src/views/widgets/findings/findings-list.tsx'
import {
  carriedRequests,
  comparedStretch,
} from '../../../src/views/widgets/timeline/timeline-model.tsx'
import { period } from '../../compare/findings/five-services.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { recordedCase } from '../../recorded.ts'

const throughPage = (comparison: Comparison) => {
  const carried = carriedRequests(comparison)
  const snapshot: ComparisonSnapshot = JSON.parse(JSON.stringify(carried.snapshot))
  return { ...carried, restored: restoreComparison(snapshot) }
}

function compared(comparison: Comparison | string): Comparison {
  if (typeof comparison === 'string') throw new Error(comparison)
  return comparison
}

/** The time of the middle request after, in µs. */
const middleOf = ({ flows }: Comparison) => {
  const starts = flows.startUs.slice(flows.count(BEFORE)).toSorted()
  return starts[Math.floor(starts.length / 2)] as number
}

const SLOWER = [
  ['work', () => compareShops({}, { stockUs: 1600, payUs: 4000 })],
  ['calls', () => compareShops({}, { payUs: 2600, payEvery: 2 })],
  ['the network', () => compareShops({}, { networkUs: 300 })],
] as const

describe('a stretch that a page compares', () => {
  test.each(SLOWER)('of slower %s has the findings that where gives', (_, make) => {
    const comparison = make()
    const { every, restored } = throughPage(comparison)
    expect(every).toBe(1)
    const fromUs = middleOf(comparison)
    const { flows } = comparison
    const where = (row: number) =>
      flows.period[row] === BEFORE || (flows.startUs[row] as number) >= fromUs
    const stretch = compared(
      comparedStretch(restored, { afterUs: [fromUs, Number.MAX_SAFE_INTEGER] }),
    )
    const expected = comparison.where(where)
    expect(stretch.flows.count(AFTER)).toBe(expected.flows.count(AFTER))
    expect(expected.findings.findings.length).toBeGreaterThan(0)
    expect(stretch.findings.findings.map(({ title, text }) => [title, text])).toEqual(
      expected.findings.findings.map(({ title, text }) => [title, text]),
    )
  })

  test('of a service that requests ask several times says where it is slower', () => {
    const often = { calls: (one: string) => (one === 'price' ? 3 : 1), transitUs: () => 200 }
    const slower = (one: string, host: string) => (one === 'price' && host === 'node-2' ? 2 : 1)
    const comparison = compare(period({ seed: 1, ...often }), period({ seed: 2, ...often, slower }))
    const fromUs = middleOf(comparison)
    const stretch = compared(
      comparedStretch(throughPage(comparison).restored, {
        afterUs: [fromUs, Number.MAX_SAFE_INTEGER],
      }),
    )
    expect(stretch.findings.findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^price: price it itself takes .* only where price host = node-2$/),
    ])
  })

  test.each(['delay-1ms', 'rmw'])('of %s, sampled, names the same cause', async (name) => {
    const comparison = await recordedCase(name)
    const { every, restored, categories } = throughPage(comparison)
    expect(every).toBeGreaterThan(1)
    expect(categories.length).toBe(restored.flows.size)
    expect(Math.abs((restored.flows.size * every) / comparison.flows.size - 1)).toBeLessThan(0.01)
    const stretch = compared(comparedStretch(restored, { afterUs: [0, middleOf(comparison)] }))
    const [found, expected] = [stretch, comparison].map(({ findings }) => findings.findings[0])
    expect(found?.services).toEqual(expected?.services)
    expect(found?.kind).toBe(expected?.kind)
  })

  test('that no request is in says so', () => {
    const { restored } = throughPage(compareShops({}, {}))
    expect(comparedStretch(restored, { afterUs: [-2, -1] })).toBe(
      'No request after is selected, so there is nothing to compare.',
    )
  })
})

describe('a part of a ribbon that is undone', () => {
  test.each(SLOWER.slice(0, 1))('of slower %s takes what it took before', (_, make) => {
    const { restored } = throughPage(make())
    const { parts } = ribbonOf(restored.account, { isClear: true, whose: 'A mean request' })
    const changed = parts.filter(({ change }) => change === 'more')
    expect(changed.length).toBeGreaterThan(1)
    for (const { steps, afterUs, beforeUs } of changed) {
      const undone = undo(restored, steps)
      if (undone === null) throw new Error('nothing was undone')
      const { before, after, without } = undone
      expect(after.meanUs - without.meanUs).toBeLessThanOrEqual(1.001 * (afterUs - beforeUs))
      expect(without.meanUs).toBeLessThan(after.meanUs)
      expect(without.p50Us).toBeLessThanOrEqual(after.p50Us)
      expect(before.meanUs).toBeLessThan(after.meanUs)
      for (const id of typicalOf(restored, steps)) expect(restored.flows.ids).toContain(id)
    }
    const all = undo(
      restored,
      changed.flatMap(({ steps }) => steps),
    )
    expect(Math.abs((all?.without.meanUs ?? 0) / (all?.before.meanUs ?? 1) - 1)).toBeLessThan(0.05)
  })

  test('that did not change leaves requests as they are', () => {
    const { restored } = throughPage(compareShops({}, { payUs: 4000 }))
    const step = restored.account.steps.map((one) => ({ ...one, beforeUs: one.afterUs }))
    const undone = undo(restored, step)
    expect(undone?.without).toEqual(undone?.after)
  })
})

describe('findings as a page lists them', () => {
  test.each(SLOWER)('of slower %s have a path that adds up', (_, make) => {
    const comparison = make()
    const shown = shownFindings(comparison)
    expect(shown.length).toBeGreaterThan(0)
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
    const { findings } = comparison.findings
    for (const [i, { account, overTime }] of shown.entries()) {
      expect(account).toEqual(accountFor(comparison, null, findings[i]?.id ?? null).parts)
      expect(overTime.map(({ length }) => length)).toEqual([16, 16])
    }
  })
})
