import { describe, expect, test } from 'vitest'
import { TIME } from '../../../src/core/quantity.ts'
import { diffEnds } from '../../../src/views/widgets/flows/flow-graph.tsx'
import {
  annotated,
  differenceWords,
  diffLabel,
  type FlowData,
  type FlowLevel,
  type FlowScene,
  flowScene,
  orderSentences,
  otherDifferences,
  readableMode,
  selectionOf,
  shownDifferences,
  shownNotes,
  verdictWords,
} from '../../../src/views/widgets/flows/flow-scene.ts'
import type { FlowText } from '../../explain/flow-pair/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import {
  AFTER_TEXT,
  BEFORE_TEXT,
  CHANGED,
  codeOf,
  comparisonOfTexts,
  dataOf,
  flows,
  newCategory,
  pastedOptions,
  propsOf,
} from './flow-fixture.ts'

const data = dataOf(CHANGED)
const NUMBER = newCategory(CHANGED)
const sceneAt = (level: FlowLevel, opened: number[] = [], of: FlowData = data): FlowScene =>
  flowScene(of, { level, opened })
const namesIn = ({ steps }: FlowScene) => steps.map(({ lines }) => lines[0])
/** Ids by the names of steps. */
const idOf = (of: FlowData, label: string) =>
  of.nodes.find((node) => node.label === label)?.id as number

describe('what is compared', () => {
  test('a structural mutation with its likeliest precursor', () => {
    expect(data.before.period).toBe('before')
    expect(data.after).toMatchObject({ category: NUMBER, period: 'after', requests: 80 })
    expect(data.before.category).not.toBe(NUMBER)
    expect(data.confidenceText).toMatch(/^5 steps are in both flows, of 6 before and 7 after/)
    expect(differenceWords(data)).toBe(
      '1 step only before, 2 steps only after, 1 latency changed significantly.',
    )
  })

  test('a category with itself when that is asked for', () => {
    const own = flows(CHANGED, { category: NUMBER, origin: 'itself' })
    const { data: told } = propsOf(own)
    expect([told.before.category, told.before.requests]).toEqual([NUMBER, 0])
    expect([differenceWords(told), told.confidenceText, otherDifferences(told)]).toEqual([
      'No request took this way before: there is nothing to compare.',
      '',
      '',
    ])
    expect(codeOf(own)).toBe(
      `explore(comparison, 'flows', { category: ${NUMBER}, origin: 'itself' })`,
    )
  })

  test('a category that nobody made before and that is no mutation, with the most similar of before', () => {
    const few = comparisonOfTexts(
      { ...BEFORE_TEXT, requests: 9 },
      { edges: 'A>B B>C C>D D>X X>E E>F', requests: 9 },
    )
    const { title, before, nodes } = dataOf(few)
    const came = newCategory(few)
    expect([title, before]).toMatchObject([
      `Flow of A, category ${came}, beside category ${1 - came}`,
      { category: 1 - came, period: 'before', requests: 9 },
    ])
    expect(nodes.filter(({ inBefore }) => !inBefore).map(({ label }) => label)).toEqual(['X'])
  })

  test('a mutation of the ranking by its kind, and any two flows', () => {
    const [mutation] = CHANGED.ranking.mutations
    const found = flows(CHANGED, { mutation: mutation ?? null })
    expect(propsOf(found).data.before).toEqual(data.before)
    const other = data.before.category
    const pair = {
      before: { category: other, period: 0 },
      after: { category: NUMBER, period: 1 },
    } as const
    const chosen = flows(CHANGED, pair)
    expect(propsOf(chosen).data.nodes).toEqual(data.nodes)
    expect(codeOf(chosen)).toBe(
      `explore(comparison, 'flows', { before: { category: ${other}, period: 0 }, after: { category: ${NUMBER}, period: 1 } })`,
    )
  })

  test('nothing that is not there', () => {
    expect(() => flows(CHANGED, 99)).toThrow('Option category is 99. Give a category from 0 to 1.')
    expect(() => flows(CHANGED, { category: 'x' as never })).toThrow('Option category is')
    expect(() => flows(CHANGED, { before: { category: 0, period: 0 } })).toThrow(
      'both before and after',
    )
  })

  test.each([
    [{ mode: 'pie' }, "'side-by-side', 'diff', 'animation' or null"],
    [{ level: 'all' }, "'steps', 'regions'"],
    [{ opened: [77] }, 'ids of groups'],
    [{ level: 'focus', focus: 9 }, 'the rank of a difference, from 1 to 2'],
    [{ opened: 1 }, 'a list of ids'],
    [{ pins: [99] }, 'ids of steps that are in both flows'],
    [{ at: 2 }, 'a share from 0 to 1'],
    [{ annotations: [{ node: 99, mark: true }] }, 'notes such as'],
    [{ annotations: [{ node: 0, edge: 0 }] }, 'notes such as'],
    [{ annotations: [{ node: 0, colour: 'red' }] }, 'notes such as'],
    [{ zoom: 3 }, 'There is no option zoom'],
  ])('an option that cannot be %j is refused', (options, message) => {
    expect(() => flows(CHANGED, NUMBER, options as never)).toThrow(message)
  })

  test('a step that is in one flow only cannot be pinned', () => {
    expect(() => flows(CHANGED, NUMBER, { pins: [idOf(data, 'D')] })).toThrow('Option pins')
  })
})

describe('what is drawn as one', () => {
  test('nothing, what is the same, what is on one side, components', () => {
    expect(namesIn(sceneAt('steps'))).toEqual(['A', 'B', 'C', 'D', 'X', 'Y', 'E', 'F'])
    expect(namesIn(sceneAt('regions'))).toEqual(['3 steps in both', 'D', 'X', 'Y', 'E', 'F'])
    expect(namesIn(sceneAt('groups'))).toEqual(['3 steps in both', 'D', 'X · Y', 'E', 'F'])
  })

  test('a group that is opened is drawn step by step, and knows what it is of', () => {
    const { steps } = sceneAt('regions', [0])
    expect(steps.map(({ lines }) => lines[0])).toEqual(['A', 'B', 'C', 'D', 'X', 'Y', 'E', 'F'])
    expect(steps.map(({ openedGroup }) => openedGroup)).toEqual([
      0,
      0,
      0,
      null,
      null,
      null,
      null,
      null,
    ])
  })

  test('all but the surroundings of one difference', () => {
    const near = (focus: number) => namesIn(flowScene(data, { level: 'focus', focus, opened: [] }))
    expect(near(1)).toEqual(['3 → 4 other steps, 1 new', 'D', 'Y', 'E', 'F'])
    expect(near(2)).toEqual(['2 other steps', 'C', 'D', 'X', 'Y', 'E', 'F'])
    expect(codeOf(flows(CHANGED, NUMBER), { level: 'focus', focus: 2 })).toContain(
      "{ category: 1, level: 'focus', focus: 2 }",
    )
  })

  test('readable names stand alone in their boxes', () => {
    const named = dataOf(CHANGED, { names: { X: 'ask the archive' } })
    expect(namesIn(sceneAt('regions', [], named))).toContain('ask the archive')
    expect(codeOf(flows(CHANGED, NUMBER, { names: { X: 'ask the archive' } }))).toBe(
      `explore(comparison, 'flows', { category: ${NUMBER}, names: { X: 'ask the archive' } })`,
    )
    const byRule = flows(CHANGED, NUMBER, { names: (label) => `named ${label}` })
    expect(codeOf(byRule)).toBe(`explore(comparison, 'flows', { category: ${NUMBER}, names })`)
  })
})

describe('the two latencies of an edge', () => {
  const { links } = sceneAt('steps')
  const slower = links.find(({ verdict }) => verdict === 'changed') as (typeof links)[number]

  test('are as long as they are to each other', () => {
    const { before, after } = diffEnds(slower)
    expect(before / after).toBeCloseTo((slower.beforeUs as number) / (slower.afterUs as number))
    expect(diffLabel(slower)).toMatch(/^(9\d\d µs|1(\.\d+)? ms) → (3\.9\d*|4(\.\d+)?) ms$/)
    expect(verdictWords(slower.lead, TIME)).toMatch(
      /^Changed significantly \(\+.* ms\); p < 1e-6\.$/,
    )
  })

  test('of which there is one are one line', () => {
    const added = links.filter(({ inBefore }) => !inBefore).map(diffLabel)
    expect(added).toHaveLength(3)
    for (const label of added) expect(label).not.toContain('→')
  })
})

test('a large change that is not significant says why', () => {
  const few = comparisonOfTexts(
    { ...BEFORE_TEXT, requests: 3 },
    { ...BEFORE_TEXT, latencyUs: { 'E>F': 9_000 }, requests: 3 },
  )
  const found = flows(few, 0, { level: 'steps' })
  const own = propsOf(found).data
  expect(
    own.edges.map((edge) => verdictWords(edge, TIME)).filter((words) => words.startsWith('Large')),
  ).toEqual([
    expect.stringMatching(/^Large change \(\+.* ms\); may be chance, too few requests to test\.$/),
  ])
  expect(found.svg()).toContain('large change that may be chance')
})

describe('notes', () => {
  test('are changed in place, and gone when they say nothing', () => {
    const one = annotated([], { node: 3 }, { mark: true, comment: '' })
    expect(one).toEqual([{ node: 3, mark: true }])
    const two = annotated(one, { edge: 3 }, { mark: false, comment: 'why?' })
    expect(two).toEqual([
      { node: 3, mark: true },
      { edge: 3, comment: 'why?' },
    ])
    expect(annotated(two, { node: 3 }, { mark: false, comment: '' })).toEqual([
      { edge: 3, comment: 'why?' },
    ])
    expect(annotated(two, { node: 3 }, { mark: true, comment: 'x' })[0]).toEqual({
      node: 3,
      mark: true,
      comment: 'x',
    })
  })

  test('stand at the group that hides what they are on', () => {
    const notes = [
      { node: 1, mark: true },
      { edge: 0, comment: 'cold cache' },
    ]
    const scene = sceneAt('regions')
    expect(shownNotes(notes, scene, data).steps.get(0)).toEqual({
      numbers: [2],
      comments: ['2 A → B: cold cache'],
      isMarked: true,
    })
    const opened = sceneAt('regions', [0])
    expect(shownNotes(notes, opened, data).steps.get(1)).toEqual({
      numbers: [],
      comments: [],
      isMarked: true,
    })
    expect([...shownNotes(notes, opened, data).links.values()]).toEqual([
      { numbers: [2], comments: ['2 A → B: cold cache'], isMarked: false },
    ])
  })
})

test('the line of code gives back all that is set', () => {
  const changes = {
    mode: 'side-by-side' as const,
    level: 'groups' as const,
    opened: [0] as const,
    pins: [6] as const,
    annotations: [
      { node: 0, mark: true },
      { edge: 2, comment: `it's “slow”${HOSTILE}` },
    ],
  }
  const widget = flows(CHANGED, NUMBER)
  expect(pastedOptions(codeOf(widget, changes), CHANGED)).toEqual({
    ...propsOf(widget).options,
    ...changes,
  })
  expect(codeOf(widget, { mode: 'animation', at: 0.3 })).toBe(
    `explore(comparison, 'flows', { category: ${NUMBER}, mode: 'animation', at: 0.3 })`,
  )
  expect(codeOf(widget)).toBe(`explore(comparison, 'flows', { category: ${NUMBER} })`)
})

test('differences come by their part of the change, and lead to what they are about', () => {
  expect(data.ranked.differences.map(selectionOf)).toEqual([
    { edge: data.edges.find(({ verdict }) => verdict === 'changed')?.id },
    { node: idOf(data, 'X') },
  ])
  expect(shownDifferences(data)[0]).toMatch(
    /^E → F takes 2\.9\d* ms longer: 97 % of the slowdown; p < 1e-6$/,
  )
  expect(otherDifferences(data)).toMatch(
    /^2 other edges without a difference: .*\. In all: 3\.0\d* ms longer\. p is corrected for the number of edges tested; new, lost and moved steps need no test\.$/,
  )
})

describe('the first view', () => {
  const viewOf = (before: FlowText, after: FlowText) =>
    readableMode(propsOf(flows(comparisonOfTexts(before, after), {})).data.ranked)

  test('of changed latencies is the difference, of changed structure the animation', () => {
    expect(data.usualMode).toBe('diff')
    expect(viewOf({ ...BEFORE_TEXT, latencyUs: {} }, { ...AFTER_TEXT, latencyUs: {} })).toBe(
      'animation',
    )
  })

  test('of equal flows is side by side, and says why', () => {
    const same = flows(comparisonOfTexts(BEFORE_TEXT, BEFORE_TEXT), 0)
    expect(propsOf(same).data).toMatchObject({ usualMode: 'side-by-side', usualLevel: 'steps' })
    expect(same.svg()).toContain('Side by side, because nothing differs significantly')
    expect(
      flows(comparisonOfTexts(BEFORE_TEXT, BEFORE_TEXT), 0, { mode: 'diff' }).svg(),
    ).not.toContain('Side by side, because')
  })

  test('is left out of the line of code', () => {
    expect(codeOf(flows(CHANGED, NUMBER), { mode: 'diff' })).not.toContain('mode')
  })
})

describe('steps that both flows have, in another order,', () => {
  const fork = 'S>A S>B A>J B>J J>Z'
  const chain = 'S>A A>B B>J J>Z'
  const swapped = 'S>B B>A A>J J>Z'
  const late = 'S>A S>B A>J J>Z'
  const of = (before: string, after: string) => {
    const comparison = comparisonOfTexts(
      { ...BEFORE_TEXT, edges: before, latencyUs: {} },
      { ...AFTER_TEXT, edges: after, latencyUs: {} },
    )
    return dataOf(comparison)
  }

  test.each([
    [
      fork,
      chain,
      '1 pair of steps now one after the other',
      'B now waits for A; before, both at the same time.',
    ],
    [
      chain,
      fork,
      '1 pair of steps now at the same time',
      'B no longer waits for A: both at the same time.',
    ],
    [fork, late, '1 step no longer waited for', 'J no longer waits for B.'],
    [late, fork, '1 step now waited for', 'J now waits for B.'],
  ])('%s, now %s, are counted, marked and told', (before, after, counted, told) => {
    const data = of(before, after)
    expect(differenceWords(data).replace(/[.,].*/, '')).toBe(counted)
    const marked = sceneAt('regions', [], data).steps.filter(({ orderChanges }) => orderChanges > 0)
    expect(marked.map(({ lines }) => lines[0]).sort()).toEqual(
      told.includes('J') ? ['B', 'J'] : ['A', 'B'],
    )
    for (const { nodes, group } of marked) {
      expect(group).toBeNull()
      expect(orderSentences(data, nodes)).toEqual([told])
    }
    const [ranked] = data.ranked.differences.filter(({ kind }) => kind === 'order')
    expect(ranked?.nodes).toContain(data.orderChanges[0]?.first)
  })

  test('that changed places are drawn twice, and told', () => {
    const data = of(chain, swapped)
    expect(differenceWords(data)).toMatch(/, 1 pair of steps now in another order\.$/)
    const [change] = data.orderChanges
    expect(orderSentences(data, [change?.first as number])).toEqual([
      'A now comes after B, not before it.',
    ])
  })

  test('are none where steps came or went', () => {
    expect(of(chain, 'S>A A>X X>B B>J J>Z').orderChanges).toEqual([])
    expect(data.orderChanges).toEqual([])
  })
})

test('the model that goes into the page says what the library says', () => {
  const { edges } = data
  expect(edges.filter(({ verdict }) => verdict === 'changed')).toHaveLength(1)
  expect(JSON.parse(JSON.stringify(data))).toEqual(data)
  expect(AFTER_TEXT.requests).toBe(data.after.requests)
})
