import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { expandFlow } from '../../../src/flows/fold/expand-flow.ts'
import { collapseFlows } from '../../../src/flows/fold/fold-flows.ts'
import { chains, makeGraphs } from '../../make-traces.ts'

const repeated = ['ROOT', 'A', 'B', 'A', 'B', 'A', 'B', 'END']
const flows = buildFlows(makeGraphs([...chains(repeated, [70]), ...chains(repeated, [70])]))

test('a root recorded as “ROOT ×3” is another one than ROOT with three rounds', () => {
  const recorded = ['ROOT ×3', 'A', 'B', 'END']
  const both = buildFlows(makeGraphs([...chains(recorded, [30]), ...chains(repeated, [70])]))
  for (const options of [{}, { log2: true }]) {
    expect(categorize(collapseFlows(both, options)).size).toBe(2)
  }
  const folded = collapseFlows(both)
  const roots = [0, 1].map((i) => folded.labels.text(folded.shapes.labels(i)[0] as number))
  expect(roots[0]).toBe('ROOT ×3')
  expect(roots[1]).toMatch(/^ROOT ×3 #[0-9a-z]+$/)
})

test('flows collapsed twice are those that were recorded, folded by the later options', () => {
  const twice = collapseFlows(collapseFlows(flows), { least: 4 })
  expect(twice.folded(0)).toBeUndefined()
  expect(expandFlow(collapseFlows(collapseFlows(flows)), 0).labels.length).toBe(8)
})

test('flows that are none, or not collapsed, are refused with what to do', () => {
  expect(() => collapseFlows(null as never)).toThrow('collapseFlows was given null. Give flows')
  expect(() => expandFlow(flows as never, 0)).toThrow('Collapse them first: collapseFlows(flows)')
})

test('a row that there is not is refused', () => {
  const collapsed = collapseFlows(flows)
  expect(() => expandFlow(collapsed, -1)).toThrow('Option request is -1')
  expect(() => expandFlow(collapsed, 2)).toThrow('the row of one of 2 requests')
})
