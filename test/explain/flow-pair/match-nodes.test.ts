import { describe, expect, test } from 'vitest'
import { compareTexts, edgeSigns, nodeSigns } from './fixture.ts'

describe('matching nodes', () => {
  test('the example of the study: abcd and abce', () => {
    const flows = compareTexts('a>b b>c a>d', 'a>b b>c a>e')
    expect(nodeSigns(flows)).toEqual(['+e', 'a', 'b', 'c', '−d'])
    expect(flows.distance).toBe(1)
    expect(flows.confidence).toBe(0.75)
  })

  test('a substitution of unequal labels is no match', () => {
    const flows = compareTexts('GET>CACHE CACHE>REPLY', 'GET>DISK DISK>REPLY')
    expect(nodeSigns(flows)).toEqual(['+DISK', 'GET', 'REPLY', '−CACHE'])
    expect(flows.confidence).toBeCloseTo(2 / 3)
  })

  test('a join that is met earlier on one side is still the same step', () => {
    const parallel = 'A>B A>C B>D C>D'
    const sequence = 'A>B B>C C>D'
    const flows = compareTexts(parallel, sequence)
    expect(nodeSigns(flows)).toEqual(['A', 'B', 'C', 'D'])
    expect(edgeSigns(flows)).toEqual(['+B>C', 'A>B', 'C>D', '−A>C', '−B>D'])
  })

  test('of several nodes of a name, the one below the same caller is taken', () => {
    const flows = compareTexts('A>P P>X.1 A>Q Q>X.2', 'A>P A>Q Q>X.2')
    expect(edgeSigns(flows)).toEqual(['A>P', 'A>Q', 'Q>X', '−P>X'])
    const match = flows.matches.find(({ before }) => flows.before.nodes[before]?.label === 'X')
    expect(match).toMatchObject({ certainty: 'likely' })
  })

  test('steps in exchanged order: one stays, the other is shown twice', () => {
    const flows = compareTexts('A>B B>C C>D', 'A>C C>B B>D')
    expect(nodeSigns(flows).filter((sign) => /^[A-D]$/.test(sign))).toHaveLength(3)
    expect(flows.nodes).toHaveLength(5)
    expect(flows.droppedMatches).toBe(0)
  })

  test('pairs that would make a step follow itself are kept apart and counted', () => {
    const flows = compareTexts('A>B B>D A>C C>D', 'A>B B>D D>C')
    expect(nodeSigns(flows)).toEqual(['+C', 'A', 'B', 'D', '−C'])
    expect(flows.droppedMatches).toBe(1)
    expect(flows.confidenceText).toBe(
      '3 steps are in both flows, of 4 before and 4 after (structures 80 % similar). 1 step of the same ' +
        'name is shown twice, because they moved past others.',
    )
  })

  test('a loop of three that becomes one of four gains one step, and nothing is doubtful', () => {
    const flows = compareTexts('A>B.1 B.1>B.2 B.2>B.3 B.3>Z', 'A>B.1 B.1>B.2 B.2>B.3 B.3>B.4 B.4>Z')
    expect(nodeSigns(flows)).toEqual(['+B', 'A', 'B', 'B', 'B', 'Z'])
    expect(new Set(flows.matches.map(({ certainty }) => certainty))).toEqual(
      new Set(['sure', 'likely']),
    )
  })

  test('a recurring name with other neighbours is doubtful, and the text says so', () => {
    const flows = compareTexts('A>B B>C C>B.2 B.2>D D>E', 'A>X X>B B>Y Y>E')
    const [match] = flows.matches.filter(({ certainty }) => certainty !== 'sure')
    expect(match).toMatchObject({ certainty: 'doubtful' })
    expect(flows.confidenceText).toContain(
      '1 step may be matched wrongly: the name recurs, in different surroundings.',
    )
  })

  test('nothing in common', () => {
    const flows = compareTexts('A>B', 'X>Y')
    expect(flows.matches).toEqual([])
    expect(flows.confidence).toBe(0)
    expect(flows.confidenceText).toBe('No step is in both flows.')
  })

  test('one step alone', () => {
    const flows = compareTexts('A', 'A')
    expect(flows.confidenceText).toBe('The one step is in both flows.')
    expect(flows.edges).toEqual([])
  })

  test('the same flow, whose branches are alike: every step is surely matched', () => {
    const flows = compareTexts('A>B.1 A>B.2 B.1>C B.2>C', 'A>B.2 A>B.1 B.2>C B.1>C')
    expect(flows.confidence).toBe(1)
    expect(flows.confidenceText).toBe('All 4 steps are in both flows.')
    expect(flows.matches.map(({ certainty }) => certainty)).toEqual([
      'sure',
      'sure',
      'sure',
      'sure',
    ])
  })
})
