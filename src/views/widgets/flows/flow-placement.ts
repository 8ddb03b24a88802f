import { cross, group, max, least as smallest, sort, sum } from 'd3-array'
import type { FlowDifference } from '../../../explain/flow-pair/flow-comparison.ts'
import { textWidth } from '../../charts/text-width.ts'
import { flowLayout } from '../../drawing/node-link.tsx'
import type { Point } from '../../drawing/path.ts'
import {
  diffLabel,
  edgeLength,
  type FlowData,
  type FlowMode,
  type FlowScene,
  type FlowSide,
  isOn,
  MIN_EDGE_LENGTH,
  periodWords,
  type SceneLink,
  type SceneStep,
  SIDES,
  sideLabel,
} from './flow-scene.ts'

/** Visible parts of a graph at one moment, and the lengths of its lines, in pixels. */
interface FlowMoment {
  readonly lengths: readonly (number | null)[]
  readonly isThere: readonly boolean[]
  /** Smallest distances of boxes from the top, in pixels; 0 without. */
  readonly least?: readonly number[]
}

interface PlacementInput {
  readonly boxes: readonly { readonly width: number; readonly height: number }[]
  /** Lines in ascending order of `from`; `labelWidth` is the width of the text to their right. */
  readonly lines: readonly {
    readonly from: number
    readonly to: number
    readonly labelWidth: number
  }[]
}

export const BEND = 13
export const LABEL_GAP = 9
const AROUND_LABEL = 4
const HALF_LINE = 8
const GAP = 14
/** Nodes, and layers that lines pass, up to which dagre is fast; larger graphs stand at the left. */
const MAX_FOR_DAGRE = 700

/**
 * Places a graph, time running down: a box begins where the last line into it ends; chains stand straight below each
 * other. Nothing overlaps at any moment, and columns stay. Mirrored, left and right are exchanged.
 */
export function placeFlow(
  input: PlacementInput,
  moments: readonly FlowMoment[],
  { isMirrored = false }: { readonly isMirrored?: boolean } = {},
) {
  const { boxes, lines } = input
  const tops = moments.map((moment) => topsAt(input, moment))
  const columns = columnsOf(input)
  const { columnOf, lineColumns, sizes } = columns
  const rows = tops.map((top) => {
    const ranges: (RowRange | null)[] = sizes.map(() => null)
    const cover = (column: number, from: number, to: number) => {
      if (Number.isNaN(from) || Number.isNaN(to)) return
      const [least, most] = ranges[column] ?? [from, to]
      ranges[column] = [Math.min(least, from), Math.max(most, to)]
    }
    const bottom = (box: number) => (top[box] as number) + (boxes[box]?.height ?? 0)
    boxes.forEach((_, box) => {
      cover(columnOf[box] as number, top[box] as number, bottom(box))
    })
    lines.forEach(({ from, to }, line) => {
      const column = lineColumns[line] as number
      const start = bottom(from) + (columnOf[from] === column ? 0 : BEND)
      cover(column, start, (top[to] as number) - (columnOf[to] === column ? 0 : BEND))
    })
    return ranges
  })
  const wishes = wishedMiddles(input, columns)
  const middles = columnMiddles(
    sizes.map((size, i) => ({
      ...size,
      wish: (isMirrored ? -1 : 1) * (wishes[i] ?? 0),
      rows: rows.map((ranges) => ranges[i] ?? null),
    })),
  )
  const ends = (top: readonly number[]) => top.map((y, box) => y + (boxes[box]?.height ?? 0))
  return {
    width: Math.max(0, ...sizes.map(({ right }, i) => (middles[i] as number) + right)),
    heights: tops.map((top) => max([0, ...ends(top)]) ?? 0),
    middles: columnOf.map((column) => middles[column] as number),
    /** Upper ends of boxes, a list a moment; `NaN` for boxes that are not there. */
    tops,
    lineMiddles: lineColumns.map((column) => middles[column] as number),
  }
}

/** Returns the top of each box: the end of the last line into it. */
function topsAt(
  { boxes, lines }: PlacementInput,
  { lengths, isThere, least = [] }: FlowMoment,
): number[] {
  const tops = boxes.map((_, box) => (isThere[box] ? (least[box] ?? 0) : Number.NaN))
  // Lines are in order of where they start: what leads to a start has been seen.
  lines.forEach(({ from, to }, line) => {
    const length = lengths[line] ?? null
    if (length === null) return
    const end = (tops[from] as number) + (boxes[from]?.height ?? 0) + length
    if (end > (tops[to] as number)) tops[to] = end
  })
  return tops
}

type ColumnSize = Readonly<Record<'left' | 'right', number>>

/** Gives chains of boxes one column; a line runs in that of the box it alone enters or leaves. */
function columnsOf({ boxes, lines }: PlacementInput) {
  const [entering, leaving] = [group(lines, ({ to }) => to), group(lines, ({ from }) => from)]
  const isEntered = (box: number) => entering.get(box)?.length === 1
  const isLeft = (box: number) => leaving.get(box)?.length === 1
  const alone = lines.filter(({ from, to }) => isLeft(from) && isEntered(to))
  const above = new Map(alone.map(({ from, to }) => [to, from]))
  const sizes: ColumnSize[] = []
  const columnOf: number[] = []
  boxes.forEach(({ width }, box) => {
    const upper = above.get(box)
    const column =
      upper === undefined ? sizes.push({ left: 0, right: 0 }) - 1 : (columnOf[upper] as number)
    const size = sizes[column] as ColumnSize
    sizes[column] = { left: Math.max(size.left, width / 2), right: Math.max(size.right, width / 2) }
    columnOf.push(column)
  })
  const chains = sizes.length
  const lineColumns = lines.map(({ from, to, labelWidth }) => {
    const right = LABEL_GAP + labelWidth + AROUND_LABEL
    if (!isEntered(to) && !isLeft(from)) return sizes.push({ left: HALF_LINE, right }) - 1
    const column = columnOf[isEntered(to) ? to : from] as number
    const size = sizes[column] as ColumnSize
    sizes[column] = { ...size, right: Math.max(size.right, right) }
    return column
  })
  return { columnOf, lineColumns, sizes, chains }
}

/** Returns the wished places of columns, with few crossings of lines; in large graphs all at the left. */
function wishedMiddles(
  { lines }: PlacementInput,
  { columnOf, lineColumns, sizes, chains }: ReturnType<typeof columnsOf>,
): number[] {
  const outer = lines
    .map(({ from, to }, line) => ({
      from: columnOf[from] as number,
      to: columnOf[to] as number,
      column: lineColumns[line] as number,
    }))
    .filter(({ from, to }) => from !== to)
  const layers = new Uint32Array(chains)
  for (const { from, to } of outer) {
    layers[to] = Math.max(layers[to] as number, (layers[from] as number) + 1)
  }
  const passed = sum(outer, ({ from, to }) => (layers[to] as number) - (layers[from] as number))
  if (chains + passed > MAX_FOR_DAGRE) return sizes.map(() => 0)
  const { nodes, edges } = flowLayout({
    nodes: sizes.slice(0, chains).map(({ left, right }) => ({
      width: 2 * Math.max(left, right),
      height: 20,
    })),
    edges: outer.map(({ from, to, column }) => ({
      from,
      to,
      labelHeight: 1,
      // Dagre gives labels without any size no place.
      labelWidth: column < chains ? 1 : HALF_LINE + (sizes[column]?.right ?? 0),
    })),
  })
  const wishes = nodes.map(({ x }) => x)
  outer.forEach(({ column }, i) => {
    if (column >= chains) wishes[column] = (edges[i]?.label.x ?? 0) + HALF_LINE
  })
  return wishes
}

type RowRange = readonly [top: number, bottom: number]

/** Something that stands in one place from left to right, at one moment or at several. */
interface Column extends ColumnSize {
  readonly wish: number
  readonly rows: readonly (RowRange | null)[]
}

/** Middles of columns, near to their wishes without overlap; neighbors keep order and a gap. */
export function columnMiddles(columns: readonly Column[]): number[] {
  const order = sort(columns.entries(), ([, { wish }]) => wish)
  const middles: number[] = []
  order.forEach(([number, column], i) => {
    const least = order
      .slice(0, i)
      .filter(([, other]) => areBeside(other, column))
      .map(([before, { right }]) => (middles[before] as number) + right + GAP + column.left)
    middles[number] = Math.max(column.wish, ...least)
  })
  const start = Math.min(...columns.map(({ left }, number) => (middles[number] as number) - left))
  return middles.map((middle) => middle - start)
}

function areBeside(a: Column, b: Column): boolean {
  return a.rows.some((range, moment) => {
    const other = b.rows[moment] ?? null
    return range !== null && other !== null && range[0] < other[1] && other[0] < range[1]
  })
}

/** Some of a scene's steps and links in their places; lists of the placement are as theirs. */
interface PlacedFlow {
  readonly steps: readonly SceneStep[]
  readonly links: readonly SceneLink[]
  readonly placement: ReturnType<typeof placeFlow>
}

export function sideLength(link: SceneLink, side: FlowSide): number {
  const latencyUs = side === 'before' ? link.beforeUs : link.afterUs
  return link.waits[side] ? MIN_EDGE_LENGTH : edgeLength(latencyUs)
}

function diffLength(link: SceneLink): number {
  return Math.max(...SIDES.filter((side) => isOn(link, side)).map((side) => sideLength(link, side)))
}

/** One picture of the flows: a value a step or link. Without `opacity`, all are drawn in full. */
interface FlowFrame {
  readonly tops: readonly number[]
  readonly lengths: readonly number[]
  readonly labels: readonly string[]
  readonly opacity?: { readonly steps: readonly number[]; readonly links: readonly number[] }
}

/** A difference that is animated by itself; `null` for all that is left. */
type FlowStage = FlowDifference | null

type FlowAnimation = ReturnType<typeof flowAnimation>

/** Most stages: with more differences, the smaller ones are one stage. */
const MAX_STAGES = 10

/**
 * Returns the stages of an animation, and the visible parts of a scene in between: one stage per difference, the
 * largest part of the change first, and one for everything else. Source: Sambasivan 2013, §4.4.4 and §4.5, which leaves
 * the order open.
 */
function flowAnimation({ steps, links, differences }: FlowScene) {
  const byNode = new Map(differences.flatMap((each) => each.nodes.map((node) => [node, each])))
  const byEdge = new Map(differences.flatMap((each) => each.edges.map((edge) => [edge, each])))
  const cause = (thing: SceneStep | SceneLink): FlowStage | undefined => {
    const isThroughout = thing.inBefore && thing.inAfter
    if ('nodes' in thing) {
      return isThroughout ? undefined : (thing.nodes.map((node) => byNode.get(node))[0] ?? null)
    }
    if (isThroughout && thing.beforeUs === thing.afterUs) return undefined
    const own = [thing.lead.id, ...thing.edges].map((edge) => byEdge.get(edge))
    return own.find((each) => each !== undefined) ?? null
  }
  const causes = new Map([...steps, ...links].map((thing) => [thing, cause(thing)]))
  const seen = new Set(causes.values())
  const ownStage = differences.filter((each) => seen.has(each)).slice(0, MAX_STAGES)
  const isLeft = [...seen].some((each) => each !== undefined && !ownStage.includes(each as never))
  const stages: readonly FlowStage[] = isLeft ? [...ownStage, null] : ownStage
  // Whether a link has its latency of after once that many stages are over.
  const isOver = (thing: SceneStep | SceneLink, over: number) => {
    const stage = stages.indexOf(causes.get(thing) ?? null)
    return (stage < 0 ? stages.length - 1 : stage) < over
  }
  // The scene before, after each stage, and so after all.
  const moments = Array.from({ length: stages.length + 1 }, (_, over): FlowMoment => {
    const isDone = (thing: SceneStep | SceneLink) =>
      isOver(thing, over) ? thing.inAfter : thing.inBefore
    const there = new Set(steps.filter(isDone).map(({ id }) => id))
    const canBe = links.filter(({ from, to }) => there.has(from) && there.has(to))
    const drawn = new Set(canBe.filter(isDone))
    // A step between two stages follows the step that led to it before, or will.
    const entered = new Set([...drawn].map(({ to }) => to))
    const isBetween = over > 0 && over < stages.length
    for (const link of canBe) if (isBetween && !entered.has(link.to)) drawn.add(link)
    const side = (link: SceneLink) => (isOver(link, over) && link.inAfter ? 'after' : 'before')
    return {
      isThere: steps.map(({ id }) => there.has(id)),
      lengths: links.map((link) =>
        drawn.has(link) ? sideLength(link, isOn(link, side(link)) ? side(link) : 'after') : null,
      ),
    }
  })
  return { stages, moments, isOver }
}

/** Returns how many stages are over at a moment, including the part of the current one. */
export function stagesOver({ stages: { length } }: FlowAnimation, at: number): number {
  const over = at * length
  // The end of a stage is no round number.
  const near = Math.round(over)
  return Math.abs(over - near) <= length / 1000 ? near : over
}

/** Returns a moment of the animation; `at` runs from 0, before, to 1, after, in equal parts a stage. */
function flowFrame(
  { steps, links, placement }: PlacedFlow,
  animation: FlowAnimation,
  at: number,
): FlowFrame & { readonly caption: string } {
  const { stages, moments, isOver } = animation
  const position = stagesOver(animation, at)
  const over = Math.min(Math.floor(position), Math.max(0, stages.length - 1))
  const share = Math.min(1, position - over)
  const progress = (part: number) => {
    const own = Math.min(1, Math.max(0, 3 * share - part))
    return own * own * (3 - 2 * own)
  }
  const [leave, move, enter] = [progress(0), progress(1), progress(2)]
  const next = Math.min(over + 1, stages.length)
  /** Returns a number between those of two moments; one of them may be missing. */
  const between = (start: number | null | undefined, end: number | null | undefined) => {
    const [one, other] = [start ?? Number.NaN, end ?? Number.NaN]
    if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : other
    return Number.isNaN(other) ? one : one + move * (other - one)
  }
  const [now, then] = [moments[over], moments[next]] as [FlowMoment, FlowMoment]
  const fading = (isThere: boolean | undefined, willBe: boolean | undefined, stay = false) => {
    if (isThere && willBe) return 1
    // Lines between steps that stay are never missing: one goes while the other comes.
    if (isThere) return 1 - (stay ? move : leave)
    return willBe ? (stay ? move : enter) : 0
  }
  const staying = new Set(
    steps.filter((_, i) => now.isThere[i] && then.isThere[i]).map(({ id }) => id),
  )
  return {
    tops: steps.map((_, i) => between(placement.tops[over]?.[i], placement.tops[next]?.[i])),
    opacity: {
      steps: steps.map((_, i) => fading(now.isThere[i], then.isThere[i])),
      links: links.map(({ from, to }, i) => {
        const stay = staying.has(from) && staying.has(to)
        return fading(now.lengths[i] !== null, then.lengths[i] !== null, stay)
      }),
    },
    lengths: links.map((_, i) => between(now.lengths[i], then.lengths[i])),
    labels: links.map((link) => {
      const isChanging = isOver(link, next) && !isOver(link, over) && share > 0 && share < 1
      if (isChanging || !link.inBefore || !link.inAfter) return diffLabel(link)
      return sideLabel(link, isOver(link, share === 1 ? next : over) ? 'after' : 'before')
    }),
    caption: captionAt(stages, at, position),
  }
}

function captionAt(stages: readonly FlowStage[], at: number, position: number): string {
  if (at <= 0) return 'before'
  if (at >= 1) return 'after'
  const stage = stages[Math.ceil(position) - 1]
  if (stage === undefined) return 'in between; nothing differs'
  return `in between: ${stage === null ? 'everything else' : `difference ${stage.rank}`}`
}

export interface DrawnStep extends Point {
  readonly step: SceneStep
  readonly opacity: number
}

export type DrawnLink = FlowPart['links'][number]

export type FlowPart = ReturnType<typeof drawnPart>

interface PartPlace {
  readonly side: FlowSide | 'both'
  /** Shared links are drawn as two lines, one for each latency. */
  readonly isDiff: boolean
  readonly x: number
  readonly y: number
}

export interface FlowDrawing {
  readonly width: number
  readonly height: number
  readonly heads: readonly { x: number; text: string; side: FlowSide | null }[]
  readonly parts: readonly FlowPart[]
  readonly correspondences: ReturnType<typeof correspondences>
}

/** Everything in its place, before it is known which mode's state is shown. */
type FlowLayout = ReturnType<typeof layOutFlow>

export const LABEL_SIZE = 11
const SEEN = 2
const HEAD = 30
const BETWEEN_FLOWS = 110
export const HEAD_SIZE = 12.5
export const HEAD_SIGN = 18

/** Does all that takes time; what depends on the moment comes after. */
export function layOutFlow(scene: FlowScene, mode: FlowMode, pins: readonly number[] = []) {
  if (mode === 'side-by-side')
    return { scene, animation: null, flows: besideEachOther(scene, pins) }
  const animation = mode === 'animation' ? flowAnimation(scene) : null
  const moments = animation?.moments ?? [moment(scene, diffLength)]
  return { scene, animation, flows: [placed(scene, diffLabel, moments)] }
}

/** Places both flows, each mirrored or not so that the same steps are closest to each other. */
function besideEachOther({ steps, links, stepOf }: FlowScene, pins: readonly number[]) {
  const sides = SIDES.map((side) => {
    const isThere = (thing: SceneStep | SceneLink) => isOn(thing, side)
    const shown = { steps: steps.filter(isThere), links: links.filter(isThere) }
    const label = (link: SceneLink) => sideLabel(link, side)
    return { shown, label, moment: moment(shown, (link) => sideLength(link, side)) }
  })
  const pinned = [...new Set(pins.map((pin) => stepOf[pin]))].map((pin) =>
    sides.map(({ shown }) => shown.steps.findIndex(({ id }) => id === pin)),
  )
  const least = sides.map(({ shown }) => shown.steps.map(() => 0))
  // A step that moves down takes its successors along; steps that changed places can never all be level.
  for (let turn = 0; turn <= pinned.length; turn++) {
    const tops = sides.map(({ shown, label, moment: own }, i) =>
      topsAt(placementInput(shown, label), { ...own, least: least[i] ?? [] }),
    )
    for (const places of pinned) {
      const level = Math.max(...places.map((place, i) => tops[i]?.[place] ?? 0))
      places.forEach((place, i) => {
        if (place >= 0) (least[i] as number[])[place] = level
      })
    }
  }
  const ways = sides.map(({ shown, label, moment: own }, i) =>
    [false, true].map((isMirrored) =>
      placed(shown, label, [{ ...own, least: least[i] ?? [] }], isMirrored),
    ),
  )
  const pairs = cross(ways[0] as PlacedFlow[], ways[1] as PlacedFlow[])
  return smallest(pairs, ([before, after]) => distanceApart(before, after)) as PlacedFlow[]
}

/** Returns the sum of squared distances between the same steps, so that they keep their order as well. */
function distanceApart(before: PlacedFlow, after: PlacedFlow): number {
  const middles = new Map(after.steps.map(({ id }, i) => [id, after.placement.middles[i]]))
  return sum(before.steps, ({ id }, i) => {
    const [here = 0, there] = [before.placement.middles[i], middles.get(id)]
    return there === undefined ? 0 : (before.placement.width - here + BETWEEN_FLOWS + there) ** 2
  })
}

type Shown = Pick<PlacedFlow, 'steps' | 'links'>

/** Returns a moment at which all is there. */
function moment({ steps, links }: Shown, lengthOf: (link: SceneLink) => number): FlowMoment {
  return { isThere: steps.map(() => true), lengths: links.map(lengthOf) }
}

function placed(
  { steps, links }: Shown,
  label: (link: SceneLink) => string,
  moments: readonly FlowMoment[],
  isMirrored = false,
): PlacedFlow {
  const placement = placeFlow(placementInput({ steps, links }, label), moments, { isMirrored })
  return { steps, links, placement }
}

function placementInput({ steps, links }: Shown, label: (link: SceneLink) => string) {
  const placeOf = new Map(steps.map(({ id }, place) => [id, place]))
  const lines = links.map((link) => ({
    from: placeOf.get(link.from) as number,
    to: placeOf.get(link.to) as number,
    // Those of changed edges are bold.
    labelWidth: 1.08 * textWidth(label(link), LABEL_SIZE),
  }))
  return { boxes: steps, lines }
}

interface DrawingState {
  readonly at: number
  /** Correspondence lines nearer to each other than this are left out within a run. */
  readonly leastApart: number
}

export function flowDrawing(
  { scene, animation, flows }: FlowLayout,
  data: FlowData,
  { at, leastApart }: DrawingState,
): FlowDrawing {
  const [union, after] = flows as [PlacedFlow, PlacedFlow | undefined]
  if (after !== undefined) return sideBySide(scene, [union, after], data, leastApart)
  const { width, heights, tops } = union.placement
  if (animation === null) {
    const { links } = union
    const frame = {
      tops: tops[0] ?? [],
      lengths: links.map(diffLength),
      labels: links.map(diffLabel),
    }
    const parts = [drawnPart(union, { side: 'both', isDiff: true, x: 0, y: 0 }, frame)]
    return { width, height: heights[0] ?? 0, heads: [], correspondences: [], parts }
  }
  const { caption, ...frame } = flowFrame(union, animation, at)
  return {
    width: Math.max(width, headWidth(caption)),
    height: Math.max(...heights) + HEAD,
    heads: [{ x: 0, text: caption, side: at <= 0 ? 'before' : at >= 1 ? 'after' : null }],
    correspondences: [],
    parts: [drawnPart(union, { side: 'both', isDiff: false, x: 0, y: HEAD }, frame)],
  }
}

function headWidth(text: string): number {
  return 1.1 * textWidth(text, HEAD_SIZE) + HEAD_SIGN
}

function drawnPart(
  { steps, links, placement }: PlacedFlow,
  { side, isDiff, x, y }: PartPlace,
  { tops, lengths, labels, opacity }: FlowFrame,
) {
  const drawn = steps.map((step, place) => ({
    step,
    x: x + (placement.middles[place] as number),
    y: y + (tops[place] as number),
    opacity: opacity?.steps[place] ?? 1,
  }))
  const byId = new Map(drawn.map((each) => [each.step.id, each]))
  const drawnLinks = links.map((link, line) => {
    const [from, to] = [byId.get(link.from) as DrawnStep, byId.get(link.to) as DrawnStep]
    const start = { x: from.x, y: from.y + from.step.height }
    const workEnd = Math.min(to.y, start.y + (lengths[line] as number))
    return {
      link,
      start,
      end: { x: to.x, y: to.y },
      /** Lower end of its work; the rest only leads on. */
      workEnd,
      columnX: x + (placement.lineMiddles[line] as number),
      /** Whether all of it is waiting, on every side that is shown. */
      waits: SIDES.every((each) =>
        side === each || (side === 'both' && isOn(link, each)) ? link.waits[each] : true,
      ),
      label: labels[line] as string,
      labelY: (start.y + Math.max(workEnd, start.y + 28)) / 2 + 5,
      opacity: opacity?.links[line] ?? 1,
    }
  })
  return {
    side,
    isDiff,
    x,
    width: placement.width,
    steps: drawn.filter((each) => each.opacity > 0),
    links: drawnLinks.filter((each) => each.opacity > 0),
  }
}

function sideBySide(
  scene: FlowScene,
  flows: readonly [before: PlacedFlow, after: PlacedFlow],
  data: FlowData,
  leastApart: number,
): FlowDrawing {
  const heads: { x: number; text: string; side: FlowSide }[] = []
  let [left, height] = [0, 0]
  const parts = flows.map((flow, i) => {
    const side = i === 0 ? 'before' : 'after'
    const { width, heights, tops } = flow.placement
    const text = periodWords(data[side], data.quantity)
    const room = Math.max(headWidth(text), width)
    heads.push({ x: left, text, side })
    height = Math.max(height, HEAD + (heights[0] ?? 0))
    // Side by side as close as their heads allow.
    const x = i === 0 ? left + room - width : left
    left += room + BETWEEN_FLOWS
    const lengths = flow.links.map((link) => sideLength(link, side))
    const labels = flow.links.map((link) => sideLabel(link, side))
    const frame = { tops: tops[0] ?? [], lengths, labels }
    return drawnPart(flow, { side, isDiff: false, x, y: HEAD }, frame)
  }) as [FlowPart, FlowPart]
  return {
    width: left - BETWEEN_FLOWS,
    height,
    heads,
    parts,
    correspondences: correspondences(scene, parts, leastApart),
  }
}

/** Lines between steps that are in both flows: from the right of the one to the left of the other. */
function correspondences(
  scene: FlowScene,
  parts: readonly [FlowPart, FlowPart],
  leastApart: number,
) {
  const [before, after] = parts.map(({ steps }, i) => {
    const ends = steps.map(({ step: { id, width, height }, x, y }): [number, Point] => [
      id,
      { x: x + (i === 0 ? width / 2 : -width / 2), y: y + height / 2 },
    ])
    return new Map(ends)
  }) as [Map<number, Point>, Map<number, Point>]
  const yIn = (ends: Map<number, Point>) => (id: number) => ends.get(id)?.y ?? 0
  const runs = sharedRuns(scene)
  const lined = new Set(linedSteps(runs, [yIn(before), yIn(after)], leastApart))
  return runs.flat().map((step) => ({
    step,
    /** Drawn even where lines crowd. */
    isEnd: lined.has(step),
    from: before.get(step) as Point,
    to: after.get(step) as Point,
  }))
}

/** Ids of steps of both flows that follow each other in both, from top to bottom. */
type SharedRun = readonly number[]

export function sharedRuns({ steps, links }: FlowScene): SharedRun[] {
  const shared = links.filter(({ inBefore, inAfter }) => inBefore && inAfter)
  const [leaving, entering] = [group(shared, ({ from }) => from), group(shared, ({ to }) => to)]
  const follower = (id: number) => {
    const [only, second] = leaving.get(id) ?? []
    if (only === undefined || second !== undefined) return undefined
    return entering.get(only.to)?.length === 1 ? only.to : undefined
  }
  const followers = new Set(steps.map(({ id }) => follower(id)))
  return steps
    .filter(({ id, inBefore, inAfter }) => inBefore && inAfter && !followers.has(id))
    .map(({ id }) => {
      const run = [id]
      for (let at = follower(id); at !== undefined; at = follower(at)) run.push(at)
      return run
    })
}

const MIN_RUN = 3

/** Steps that get a line to their like: all of a run, or its two ends where lines would crowd. */
export function linedSteps(
  runs: readonly SharedRun[],
  heights: readonly ((id: number) => number)[],
  leastApart: number,
): number[] {
  return runs.flatMap((run) => {
    const [first, last] = [run[0], run.at(-1)]
    if (run.length < MIN_RUN || first === undefined || last === undefined) return run
    const apart = heights.map((heightOf) => (heightOf(last) - heightOf(first)) / (run.length - 1))
    return Math.min(...apart) < leastApart ? [first, last] : run
  })
}

export function hasLeads({ parts }: FlowDrawing): boolean {
  return parts.some(({ links }) => links.some(isLeadingOn))
}

export function isLeadingOn({ waits, workEnd, end }: DrawnLink): boolean {
  return !waits && end.y - workEnd > SEEN
}
