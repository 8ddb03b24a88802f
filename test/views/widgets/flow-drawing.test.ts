import { describe, expect, test } from 'vitest'
import { stepAfterKey } from '../../../src/views/widgets/flows/flow-canvas.tsx'
import {
  type FlowPart,
  flowDrawing,
  hasLeads,
  layOutFlow,
  linedSteps,
  sharedRuns,
} from '../../../src/views/widgets/flows/flow-placement.ts'
import {
  type FlowData,
  type FlowLevel,
  type FlowScene,
  flowScene,
} from '../../../src/views/widgets/flows/flow-scene.ts'
import type { FlowText } from '../../explain/flow-pair/fixture.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import {
  BEFORE_TEXT,
  CHANGED,
  comparisonOfTexts,
  dataOf,
  flows,
  newCategory,
  propsOf,
} from './flow-fixture.ts'

const data = dataOf(CHANGED)
const NUMBER = newCategory(CHANGED)
const sceneAt = (level: FlowLevel, opened: number[] = [], of: FlowData = data): FlowScene =>
  flowScene(of, { level, opened })

describe('lines between the same steps', () => {
  test('follow runs that are contiguous in both flows', () => {
    expect(sharedRuns(sceneAt('steps'))).toEqual([
      [0, 1, 2],
      [6, 7],
    ])
  })

  test('are drawn at the ends of a run where they crowd', () => {
    const runs = [
      [0, 1, 2, 3],
      [5, 6],
    ]
    expect(linedSteps(runs, [(id) => 100 * id, (id) => 80 * id], 84)).toEqual([0, 3, 5, 6])
    expect(linedSteps(runs, [(id) => 100 * id, (id) => 90 * id], 84)).toEqual([0, 1, 2, 3, 5, 6])
  })

  test('are level at the pinned step', () => {
    const levelAt = (pins: readonly number[], step: number) => {
      const layouts = layOutFlow(sceneAt('steps'), 'side-by-side', pins)
      const { correspondences } = flowDrawing(layouts, data, { at: 0, leastApart: 0 })
      const line = correspondences.find((each) => each.step === step)
      return (line?.to.y ?? 0) - (line?.from.y ?? 0)
    }
    const [root, e, f] = ['A', 'E', 'F'].map(
      (label) => data.nodes.find((node) => node.label === label)?.id as number,
    ) as [number, number, number]
    expect(levelAt([], root)).toBe(0)
    expect(levelAt([], e)).toBeGreaterThan(40)
    expect(levelAt([], f)).toBeGreaterThan(levelAt([], e))
    expect(levelAt([e], e)).toBe(0)
    expect(levelAt([e], f)).toBeGreaterThan(0)
    for (const step of [root, e, f]) expect(levelAt([e, f], step)).toBe(0)
  })

  test('are short between chains, whatever stands above them', () => {
    const layout = layOutFlow(sceneAt('steps'), 'side-by-side')
    const { correspondences } = flowDrawing(layout, data, { at: 0, leastApart: 0 })
    for (const { from, to } of correspondences) expect(to.x - from.x).toBeLessThan(200)
  })

  test('are no longer than the wider flow and the gap, and flows do not overlap', () => {
    const [narrow, wide] = ['S>A A>J S>B B>J J>Z', 'S>A A>J S>B B>J J>Z S>X X>Y Y>J S>W W>J'].map(
      (edges) => ({ edges, requests: 80 }),
    ) as [FlowText, FlowText]
    for (const [before, after] of [
      [narrow, wide],
      [wide, narrow],
    ] as const) {
      const own = dataOf(comparisonOfTexts(before, after))
      const scene = sceneAt('steps', [], own)
      const { correspondences, parts } = flowDrawing(layOutFlow(scene, 'side-by-side'), own, {
        at: 0,
        leastApart: 0,
      })
      expect(correspondences.length).toBeGreaterThan(4)
      const apart = correspondences.map(({ from, to }) => to.x - from.x)
      const [left, right] = parts.map(({ x, width }) => [x, x + width]) as [number[], number[]]
      expect(Math.min(...apart)).toBeGreaterThan(0)
      expect(right[0]).toBeGreaterThan(left[1] as number)
      const order = (side: 'from' | 'to') =>
        correspondences
          .filter(({ step }) => ['A', 'B'].includes(own.nodes[step]?.label ?? ''))
          .sort((a, b) => a[side].x - b[side].x)
          .map(({ step }) => step)
      expect(order('from')).toEqual(order('to'))
      const mean = apart.reduce((total, each) => total + each, 0) / apart.length
      expect(mean).toBeLessThan((right[1] as number) - (left[0] as number))
    }
  })
})

describe('the animation', () => {
  const layout = layOutFlow(sceneAt('steps'), 'animation')
  const drawingAt = (at: number) => flowDrawing(layout, data, { at, leastApart: 0 })
  const partAt = (at: number) => drawingAt(at).parts[0] as FlowPart
  const topOf = (at: number, name: string) =>
    partAt(at).steps.find(({ step }) => step.lines[0] === name)?.y as number
  const seen = (at: number) => partAt(at).steps.map(({ step }) => step.lines[0])

  test('shows one difference after the other, the largest first', () => {
    const kinds = layout.animation?.stages.map((stage) => stage?.kind)
    expect(kinds).toEqual(['latency', 'replaced', undefined])
    expect(seen(0)).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
    expect(seen(1 / 3)).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
    expect(topOf(1 / 3, 'F')).toBeGreaterThan(topOf(0, 'F'))
    expect(topOf(1 / 3, 'E')).toBe(topOf(0, 'E'))
    expect(topOf(0.4, 'E')).toBe(topOf(1 / 3, 'E'))
    expect(seen(2 / 3)).toEqual(['A', 'B', 'C', 'X', 'Y', 'E', 'F'])
    expect(seen(1)).toEqual(['A', 'B', 'C', 'X', 'Y', 'E', 'F'])
  })

  test('begins and ends as each flow alone, and claims no latency in between', () => {
    const labelAt = (at: number) =>
      partAt(at).links.find(({ link }) => link.verdict === 'changed')?.label
    expect(labelAt(0)).toMatch(/s$/)
    expect(labelAt(0)).not.toContain('→')
    expect(labelAt(0.1)).toContain('→')
    expect(labelAt(0.4)).not.toContain('→')
    expect(labelAt(1)).not.toContain('→')
    const captionAt = (at: number) => drawingAt(at).heads.map(({ text }) => text)
    expect(captionAt(0)).toEqual(['before'])
    expect(captionAt(0.1)).toEqual(['in between: difference 1'])
    expect(captionAt(0.5)).toEqual(['in between: difference 2'])
    expect(captionAt(0.9)).toEqual(['in between: everything else'])
    expect(captionAt(1)).toEqual(['after'])
  })

  test('has a change of order as a stage of its own, with the steps that moved', () => {
    const texts = ['S>A A>B B>J J>Z', 'S>B B>A A>J J>Z'].map((edges) => ({
      edges,
      requests: 80,
    })) as [FlowText, FlowText]
    const comparison = comparisonOfTexts(...texts)
    const own = dataOf(comparison)
    const swap = layOutFlow(sceneAt('steps', [], own), 'animation')
    const orders = swap.animation?.stages.filter((stage) => stage?.kind === 'order')
    expect(orders).toHaveLength(1)
    const moved = orders?.[0]?.nodes.map((node) => own.nodes[node]?.label)
    expect(new Set(moved)).toEqual(new Set(['A', 'B']))
    expect(orders?.[0]?.text).toContain('now comes after')
    const [first, last] = [0, 1].map((at) =>
      flowDrawing(swap, own, { at, leastApart: 0 }).parts[0]?.steps.map(
        ({ step }) => step.lines[0],
      ),
    )
    expect(first?.join('')).toBe('SABJZ')
    expect([...(last ?? [])].sort().join('')).toBe('ABJSZ')
  })

  test('leaves no step without a line while calls at the same time become calls in turn', () => {
    const [fork, chain] = ['S>A S>B A>J B>J J>Z', 'S>A A>B B>J J>Z'].map((edges) => {
      return { edges, requests: 80 }
    }) as [FlowText, FlowText]
    const own = dataOf(comparisonOfTexts(fork, chain))
    const turn = layOutFlow(sceneAt('steps', [], own), 'animation')
    for (const at of [0, 0.2, 0.4, 0.5, 0.6, 0.8, 1]) {
      const { links = [] } = flowDrawing(turn, own, { at, leastApart: 0 }).parts[0] ?? {}
      const entered = new Set(links.map(({ link }) => own.nodes[link.to]?.label))
      expect([at, [...entered].sort()]).toEqual([at, ['A', 'B', 'J', 'Z']])
    }
  })

  test('has no stages in which nothing happens', () => {
    const same = comparisonOfTexts(BEFORE_TEXT, BEFORE_TEXT)
    const own = propsOf(flows(same, 0)).data
    const still = layOutFlow(
      sceneAt('steps', [], {
        ...own,
        edges: own.edges.map((edge) => ({ ...edge, after: edge.before })),
      }),
      'animation',
    )
    expect(still.animation?.stages).toEqual([])
    expect(flowDrawing(still, own, { at: 0.5, leastApart: 0 }).heads).toEqual([
      { x: 0, text: 'in between; nothing differs', side: null },
    ])
  })
})

describe('the keyboard', () => {
  const at = (mode: 'diff' | 'side-by-side', place: number, part: number, key: string) =>
    stepAfterKey(
      flowDrawing(layOutFlow(sceneAt('steps'), mode), data, { at: 0, leastApart: 0 }),
      { part, place },
      key,
    )

  test('goes along the flow, to what is beside, and to the ends', () => {
    expect(at('diff', 0, 0, 'ArrowDown')).toEqual({ part: 0, place: 1 })
    expect(at('diff', 1, 0, 'ArrowUp')).toEqual({ part: 0, place: 0 })
    expect(at('diff', 0, 0, 'ArrowUp')).toBe(null)
    expect(at('diff', 0, 0, 'End')).toEqual({ part: 0, place: 7 })
    expect(at('side-by-side', 0, 0, 'ArrowRight')).toEqual({ part: 1, place: 0 })
    expect(at('side-by-side', 0, 1, 'ArrowLeft')).toEqual({ part: 0, place: 0 })
    expect(at('diff', 0, 0, 'x')).toBe(null)
  })
})

test('a line that only leads on to a join is told from waiting', () => {
  const drawing = flowDrawing(layOutFlow(sceneAt('steps'), 'diff'), data, {
    at: 0,
    leastApart: 0,
  })
  // D → E is shorter than X → Y → E.
  expect(hasLeads(drawing)).toBe(true)
})

describe('the picture', () => {
  test.each(['diff', 'side-by-side', 'animation'] as const)('of %s explains itself', (mode) => {
    const svg = flows(CHANGED, NUMBER, {
      mode,
      annotations: [{ node: 6, comment: 'cold cache' }],
    }).svg()
    expect(svg).toContain('latency changed significantly')
    expect(svg).toContain('several steps drawn as one')
    expect(svg).toContain('Time runs down; lengths grow slowly with time, not in proportion:')
    expect(svg).toContain('5 steps are in both flows')
    expect(svg).toContain('1 E: cold cache')
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('marks steps that may be matched wrongly, and boxes with steps that came or went', () => {
    const [before, after] = [
      { edges: 'A>B B>C C>B.2 B.2>D D>E', requests: 40 },
      { edges: 'A>X X>B B>Y Y>E', requests: 40 },
    ]
    const doubtful = comparisonOfTexts(before, after)
    const pair = {
      before: { category: 0, period: 0 as const },
      after: { category: 1, period: 1 as const },
    }
    const svg = flows(doubtful, pair, { level: 'steps', mode: 'diff' }).svg()
    expect(svg.match(/>\?<\/text>/g)).toHaveLength(2)
    expect(svg).toContain('steps that may be matched wrongly')
    const folded = flows(CHANGED, NUMBER, { level: 'focus', focus: 1, mode: 'diff' }).svg()
    expect(folded).toContain('3 → 4 other steps, 1 new')
    expect(folded).toContain('steps only after')
  })

  test('holds names from traces as text', () => {
    const texts = { edges: `A>${'B'}`, requests: 40 }
    const hostile = flows(comparisonOfTexts(texts, texts), 0, {
      names: () => HOSTILE,
      level: 'steps',
      annotations: [{ node: 0, comment: HOSTILE }],
    })
    expect(hostile.svg()).not.toContain('<img')
    expect(hostile.mimeBundle()['text/html']).not.toContain('<img src=x')
  })

  test('of a flow without requests on one side, and of a single step', () => {
    const single = { edges: 'A', requests: 40 }
    for (const comparison of [comparisonOfTexts(single, single), CHANGED]) {
      for (const mode of ['diff', 'side-by-side', 'animation'] as const) {
        const svg = flows(comparison, { category: 0, origin: 'itself' }, { mode }).svg()
        expect(svg).not.toMatch(/NaN|undefined|Infinity/)
      }
    }
  })

  test('of more steps than can be read shows components, or says so', () => {
    const names = Array.from({ length: 500 }, (_, i) => `S${i}`)
    const edges = names.slice(1).map((name, i) => `${names[i]}>${name}`)
    const slower = Object.fromEntries(edges.map((edge) => [edge, 300]))
    const many = comparisonOfTexts(
      { edges: edges.join(' '), requests: 30 },
      { edges: edges.join(' '), requests: 30, latencyUs: slower },
    )
    const svg = flows(many, 0, { level: 'steps' }).svg()
    expect(svg).toContain('500 steps are too many for a picture.')
    expect(svg.length).toBeLessThan(5_000)
  })
})
