import type { FlowComparison, UnionEdge } from '../../../explain/flow-pair/flow-comparison.ts'

/** How two flows are compared. */
export type FlowMode = 'side-by-side' | 'diff' | 'animation'

/**
 * What is drawn as one: nothing; what is the same on both sides; also what is on one side only; or
 * each component's steps.
 */
export type FlowLevel = 'steps' | 'regions' | 'groups' | 'components'

/** A note of the reader on a step or on an edge, by its id in the union. */
export interface FlowAnnotation {
  readonly node?: number
  readonly edge?: number
  readonly mark?: boolean
  readonly comment?: string
}

/** What the widget is set to. */
export interface FlowState {
  readonly mode: FlowMode
  readonly level: FlowLevel
  /** Ids of groups of this level that are drawn step by step all the same. */
  readonly opened: readonly number[]
  /** The step at which both flows stand at one height; `null` for where they begin. */
  readonly pin: number | null
  /** How far the animation is: 0 is before, 1 after. */
  readonly at: number
  readonly annotations: readonly FlowAnnotation[]
}

/** One of the two flows, in figures. */
export interface FlowPeriodData {
  readonly category: number
  readonly period: 'before' | 'after'
  readonly requests: number
  readonly meanUs: number | null
  readonly steps: number
}

/** What a step is called: what happens, and where. */
export type FlowCaption = readonly [name: string, where: string]

type Model = Pick<
  FlowComparison,
  'nodes' | 'edges' | 'regions' | 'differences' | 'components' | 'confidenceText'
>

/** All that the view needs. */
export interface FlowData extends Model {
  readonly before: FlowPeriodData
  readonly after: FlowPeriodData
  /** One for each node of the union. */
  readonly captions: readonly FlowCaption[]
  readonly title: string
  /** What the call in the line of code begins with, as code. */
  readonly subject: readonly string[]
  /** Options that the line of code repeats, as code. */
  readonly kept: Readonly<Record<string, string>>
  /** What is set where no option says otherwise. */
  readonly usual: FlowState
  readonly initial: FlowState
}

export const FLOW_MODES: readonly FlowMode[] = ['side-by-side', 'diff', 'animation']
export const FLOW_LEVELS: readonly FlowLevel[] = ['steps', 'regions', 'groups', 'components']

/** The groups that a level draws as one. */
export function groupsAt(
  { regions, differences, components }: Model,
  level: FlowLevel,
): Model['regions'] {
  if (level === 'steps') return []
  if (level === 'regions') return regions
  return level === 'groups' ? [...regions, ...differences] : components
}

/** A latency as it is drawn: the mean, or of an edge that is never waited for its waiting. */
export function latencyUs(edge: UnionEdge, side: 'before' | 'after'): number | null {
  const latencies = edge[side]
  return latencies === null ? null : (latencies.meanUs ?? latencies.waitUs)
}
