import { describe, expect, test } from 'vitest'
import type { FlowComparison, FlowGroup } from '../../../src/explain/flow-pair/flow-comparison.ts'
import { coalesceFlow } from '../../../src/explain/flow-pair/flow-groups.ts'
import { compareTexts } from './fixture.ts'

function members({ nodes }: FlowComparison, groups: readonly FlowGroup[]): string[] {
  return groups.map((group) => group.nodes.map((id) => nodes[id]?.label).join(' '))
}

const chain = (letters: string) =>
  Array.from(letters.slice(1), (letter, i) => `${letters[i]}>${letter}`).join(' ')

describe('identical regions', () => {
  test('an inserted step parts what is the same before it from what is the same after it', () => {
    const flows = compareTexts(chain('ABCDEF'), chain('ABCXDEF'))
    expect(members(flows, flows.regions)).toEqual(['A B C', 'D E F'])
    expect(flows.regions.map(({ name }) => name)).toEqual(['3 steps in both', '3 steps in both'])
    expect(flows.regions[0]).toMatchObject({ identical: true, changedEdges: 0, edges: [0, 1] })
  })

  test('a changed latency parts them too', () => {
    const flows = compareTexts(chain('ABCD'), { edges: chain('ABCD'), latencyUs: { 'B>C': 500 } })
    expect(members(flows, flows.regions)).toEqual(['A B', 'C D'])
  })

  test('nothing changed: one region', () => {
    const flows = compareTexts('A>B A>C B>D C>D', 'A>B A>C B>D C>D')
    expect(members(flows, flows.regions)).toEqual(['A B C D'])
    expect(flows.regions[0]?.beforeUs).toBeCloseTo(flows.before.meanUs as number, 6)
  })

  test('a region never stands both before and after a change: A and D are not one', () => {
    const flows = compareTexts('A>B A>C B>D C>D', 'A>B A>C B>D C>X X>D')
    const drawn = coalesceFlow(flows)
    for (const { from, to } of drawn.edges) expect(from).toBeLessThan(to)
    expect(members(flows, flows.regions)).toEqual(['A B C'])
  })

  test('regions grow over what only one branch tells apart', () => {
    const edges = 'A>B B>C C>D A>E E>F D>J F>J J>K'
    const slow = { 'B>C': 400, 'C>D': 400, 'E>F': 1000 }
    const flows = compareTexts(edges, { edges, latencyUs: slow }, { stages: { alpha: 1e-3 } })
    const changed = flows.edges.filter(({ verdict }) => verdict === 'changed')
    expect(changed).toHaveLength(3)
    expect(members(flows, flows.regions)).toEqual(['A B E', 'F D J K'])
  })
})

const CALLS = 'web__1__GET>db__1__READ db__1__READ>db__1__SCAN db__1__SCAN>web__1__SEND'

describe('traversals of components', () => {
  test('are connected steps at one place, on either side or both', () => {
    const after = CALLS.replace('SCAN>web', 'SCAN>db__1__SORT db__1__SORT>web')
    const flows = compareTexts(CALLS, after)
    expect(flows.components.map(({ name, host }) => [name, host])).toEqual([
      ['web__1: 1 step', 'web__1'],
      ['db__1: 3 steps', 'db__1'],
      ['web__1: 1 step', 'web__1'],
    ])
    expect(flows.components.map(({ identical }) => identical)).toEqual([true, false, true])
  })

  test('hosts that are left out of labels part nothing', () => {
    const flows = compareTexts(CALLS, CALLS, { stages: { omitHosts: true } })
    expect(flows.components).toEqual([])
  })
})

describe('differences', () => {
  test('are connected steps of one side, and are drawn as one beside the regions', () => {
    const flows = compareTexts(chain('ABQRCD'), chain('ABXYZCWD'))
    expect(flows.differences.map(({ kind, name }) => [kind, name])).toEqual([
      ['removed', '2 removed steps'],
      ['added', '3 added steps'],
      ['added', '1 added step'],
    ])
    expect(members(flows, flows.differences)).toEqual(['Q R', 'X Y Z', 'W'])
    const drawn = coalesceFlow(flows, { groups: [...flows.regions, ...flows.differences] })
    expect(drawn.nodes.map(({ name }) => name)).toEqual([
      '2 steps in both',
      '2 removed steps',
      '3 added steps',
      'C',
      'W',
      'D',
    ])
  })

  test('what was inserted at two places is two differences', () => {
    const flows = compareTexts(chain('ABC'), 'A>X X>B B>Y Y>C X>Y')
    expect(members(flows, flows.differences)).toEqual(['X', 'Y'])
  })
})

describe('coalescing', () => {
  const flows = compareTexts(chain('ABCDEF'), chain('ABCXDEF'))

  test('draws closed regions as one node each and opened ones node by node', () => {
    const closed = coalesceFlow(flows)
    expect(closed.nodes.map(({ key, name }) => [key, name])).toEqual([
      ['group 0', '3 steps in both'],
      ['node 3', 'X'],
      ['group 1', '3 steps in both'],
    ])
    expect(closed.edges.map(({ from, to, inBefore }) => [from, to, inBefore])).toEqual([
      [0, 1, false],
      [0, 2, true],
      [1, 2, false],
    ])
    const open = coalesceFlow(flows, { opened: [0] })
    expect(open.nodes.map(({ name }) => name)).toEqual(['A', 'B', 'C', 'X', '3 steps in both'])
    expect(open.nodeOf).toEqual([0, 1, 2, 3, 4, 4, 4])
  })

  test('all opened, it is the union', () => {
    const all = coalesceFlow(flows, { opened: flows.regions.map(({ id }) => id) })
    expect(all.nodes.map(({ nodes: [only] }) => only)).toEqual(flows.nodes.map(({ id }) => id))
    expect(all.edges.map(({ edges: [only] }) => only)).toEqual(flows.edges.map(({ id }) => id))
  })

  test('a bundle of edges is changed when one of them is', () => {
    const before = 'web__1__A>db__1__B web__1__A>db__1__C db__1__B>db__1__D db__1__C>db__1__D'
    const slow = { edges: before, latencyUs: { 'web__1__A>db__1__B': 900 } }
    const slower = { edges: before, latencyUs: { 'web__1__A>db__1__B': 2000 } }
    const traversals = compareTexts(slow, slower)
    const drawn = coalesceFlow(traversals, { groups: traversals.components })
    expect(drawn.edges).toMatchObject([{ edges: [0, 1], verdict: 'changed' }])
  })

  test('a group that there is not cannot be opened', () => {
    expect(() => coalesceFlow(flows, { opened: [7] })).toThrow(
      'Option opened is 7. Give ids of groups, of which there are 2.',
    )
  })
})
