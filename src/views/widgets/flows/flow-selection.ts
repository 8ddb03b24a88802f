import type { FlowData } from './flow-data.ts'
import type { FlowDrawing } from './flow-drawing.ts'
import { type StepPlace, stepMiddle } from './flow-keys.ts'
import { linkLabelY } from './flow-link.tsx'
import type { FlowScene, SceneLink, SceneStep } from './flow-scene.ts'

/** What is looked at: a step by its id in the union, or an edge. */
export type FlowSelection =
  | { readonly node: number; readonly edge?: undefined }
  | { readonly edge: number; readonly node?: undefined }

/** What a selection is in a scene: an edge within a group is the group. */
export interface SelectedThing {
  readonly step: SceneStep | null
  readonly link: SceneLink | null
}

export function selectedThing(
  { steps, links, stepOf }: FlowScene,
  { edges }: FlowData,
  selection: FlowSelection | null,
): SelectedThing {
  if (selection === null) return { step: null, link: null }
  const { node, edge } = selection
  const link = links.find((each) => edge !== undefined && each.edges.includes(edge))
  if (link !== undefined) return { step: null, link }
  const id = stepOf[node ?? edges[edge]?.from ?? 0]
  return { step: steps[id ?? -1] ?? null, link: null }
}

/** Where a step, or the label of a link, is in the drawing; in the last part that has it. */
export function thingPlace(
  drawing: FlowDrawing,
  { step, link }: SelectedThing,
): { x: number; y: number } | null {
  for (const [part, drawn] of [...drawing.parts.entries()].reverse()) {
    const { placed, x, y } = drawn
    if (step !== null) {
      const middle = stepMiddle(drawing, { part, place: placeOf(placed.steps, step.id) })
      if (middle !== null) return middle
    }
    const number = placed.links.findIndex((each) => each.link === link)
    const found = placed.links[number]
    if (found === undefined) continue
    // Its ends may be far apart.
    const column = placed.placement.lineMiddles[number] as number
    return { x: x + column, y: y + linkLabelY(drawn, found) }
  }
  return null
}

/** The box that stands for a step of the union, in the given part or any. */
export function placeOfNode(
  { parts }: FlowDrawing,
  { stepOf }: FlowScene,
  node: number,
  preferred = 0,
): StepPlace | null {
  const order = [preferred, ...parts.keys()]
  for (const part of order) {
    const place = placeOf(parts[part]?.placed.steps ?? [], stepOf[node] ?? -1)
    if (place >= 0) return { part, place }
  }
  return null
}

function placeOf(steps: readonly SceneStep[], id: number): number {
  return steps.findIndex((step) => step.id === id)
}

/**
 * What differs, from top to bottom: latencies that changed significantly or much, and groups of
 * steps that are on one side only.
 */
export function differences({ edges, differences: groups }: FlowData): FlowSelection[] {
  const found: { at: number; selection: FlowSelection }[] = [
    ...edges
      .filter(({ verdict, reason }) => verdict === 'changed' || reason !== null)
      .map(({ id, from }) => ({ at: from, selection: { edge: id } })),
    ...groups.map(({ nodes }) => {
      const node = nodes[0] as number
      return { at: node, selection: { node } }
    }),
  ]
  return found.sort((a, b) => a.at - b.at).map(({ selection }) => selection)
}
