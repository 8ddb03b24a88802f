import { expect, test } from 'vitest'
import { unfinishedFolding } from '../../../src/compare/fairness/period-problems.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { FoldedFlows } from '../../../src/flows/fold/folded-flows.ts'
import { chains, makeGraphs } from '../../make-traces.ts'

const flows = buildFlows(makeGraphs(chains(['A', 'B', 'C'], [10])))
const collapsed = foldFlows(flows)

test('a search for repetitions that stopped early is reported', () => {
  const folded = { graphs: [], logicalOf: [], unfinished: 2 }
  const { folding } = collapsed
  const tangled = new FoldedFlows(collapsed, { unfolded: flows, folding, folded })
  expect(unfinishedFolding({ flows: tangled }).map(({ code, finding }) => [code, finding])).toEqual(
    [
      [
        'unfinished-folding',
        'The search for repetitions stopped early in 2 recorded forms of flows.',
      ],
    ],
  )
})

test('nothing is said of flows that are folded to the end, or not at all', () => {
  expect(unfinishedFolding({ flows: collapsed })).toEqual([])
  expect(unfinishedFolding({ flows })).toEqual([])
})
