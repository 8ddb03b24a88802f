import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { chains, makeGraphs } from '../../make-traces.ts'

const repeated = ['ROOT', 'A', 'B', 'A', 'B', 'A', 'B', 'END']
const flows = buildFlows(makeGraphs([...chains(repeated, [70]), ...chains(repeated, [70])]))

test('a root recorded as “ROOT ×3” is another one than ROOT with three rounds', () => {
  const recorded = ['ROOT ×3', 'A', 'B', 'END']
  const both = buildFlows(makeGraphs([...chains(recorded, [30]), ...chains(repeated, [70])]))
  for (const options of [{}, { log2: true }]) {
    expect(categorize(foldFlows(both, options)).size).toBe(2)
  }
  const folded = foldFlows(both)
  const roots = [0, 1].map((i) => folded.labels.text(folded.shapes.labels(i)[0] as number))
  expect(roots[0]).toBe('ROOT ×3')
  expect(roots[1]).toMatch(/^ROOT ×3 #[0-9a-z]+$/)
})

test('flows folded twice are those that were recorded, folded by the later options', () => {
  const twice = foldFlows(foldFlows(flows), { log2: true })
  expect(twice.unfolded).toBe(flows)
  expect(twice.labels.text(twice.shapes.labels(0)[0] as number)).toBe('ROOT ×2–3')
})

test('flows that are none are refused with what to do', () => {
  expect(() => foldFlows(null as never)).toThrow('foldFlows(flows) got null. Give flows')
})
