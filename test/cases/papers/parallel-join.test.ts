import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import { compareTexts } from '../../explain/flow-pair/fixture.ts'
import { describeWithShared } from '../../shared.ts'
import { paperCase } from './sketches.ts'

describeWithShared('the recorded case parallel-join', () => {
  test('tells the time of an edge as drawn, and how much of it is waited for', async () => {
    const { responseTime, findings } = compare(...(await paperCase('parallel-join')))
    const { ranked } = compareFlowGraphs(responseTime, { category: 0 })
    expect(findings.findings[0]?.title).toBe('a DEFAULT → c DEFAULT: takes 202 µs longer')
    expect(ranked.differences[0]?.text).toBe(
      'a DEFAULT → c DEFAULT takes 202 µs longer, 153 µs of it waited for: 100 % of the slowdown; p < 1e-6',
    )
    expect(ranked.rest.changeUs).toBeCloseTo(0, 3)
  })
})

test('a branch that becomes the slower one costs what it takes beyond the other', () => {
  const edges = 'GO>DISK DISK>JOIN GO>NET NET>JOIN JOIN>END'
  const { ranked } = compareTexts(
    { edges, spread: 0, latencyUs: { 'GO>DISK': 300, 'GO>NET': 60 } },
    { edges, spread: 0, latencyUs: { 'GO>DISK': 300, 'GO>NET': 700 } },
  )
  const [first] = ranked.differences
  expect(first).toMatchObject({ kind: 'latency', changeUs: 400 })
  expect(first?.text).toMatch(/^GO → NET takes 640 µs longer, 400 µs of it waited for: 100 % of/)
  expect(ranked.rest.changeUs).toBeCloseTo(0, 6)
})

test('of three branches, the one that is no longer waited for saves what the next takes less', () => {
  const edges = 'GO>A A>JOIN GO>B B>JOIN GO>C C>JOIN JOIN>END'
  const times = { 'GO>B': 500, 'GO>C': 200 }
  const { ranked } = compareTexts(
    { edges, spread: 0, latencyUs: { ...times, 'GO>A': 900 } },
    { edges, spread: 0, latencyUs: { ...times, 'GO>A': 100 } },
  )
  const [first] = ranked.differences
  expect(first).toMatchObject({ kind: 'latency', changeUs: -400 })
  expect(first?.text).toMatch(/^GO → A takes 800 µs less, 400 µs of it waited for: 100 % of/)
  expect(ranked.rest.changeUs).toBeCloseTo(0, 6)
})
