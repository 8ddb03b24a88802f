import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { coalesceFlow } from '../../../explain/flow-pair/coalesce-flow.ts'
import type { FlowComparison } from '../../../explain/flow-pair/flow-comparison.ts'
import {
  FLOW_LEVELS,
  FLOW_MODES,
  type FlowAnnotation,
  type FlowLevel,
  type FlowState,
  groupsAt,
} from './flow-data.ts'

/** More boxes than this are not read one by one. */
const MOST_BOXES = { regions: 60, groups: 120 } as const

/** What the widget begins with where nothing else is asked for. */
export function usualFlowState(flows: FlowComparison): FlowState {
  return {
    ...{ mode: 'diff', level: readableLevel(flows), opened: [] },
    ...{ pin: null, at: 0, annotations: [] },
  }
}

function readableLevel(flows: FlowComparison): FlowLevel {
  const boxes = (level: FlowLevel) =>
    coalesceFlow(flows, { groups: groupsAt(flows, level) }).nodes.length
  if (boxes('regions') <= MOST_BOXES.regions) return 'regions'
  if (boxes('groups') <= MOST_BOXES.groups) return 'groups'
  return boxes('components') < boxes('groups') ? 'components' : 'groups'
}

/** The state if it is one of this comparison. */
export function checkedFlowState(state: FlowState, flows: FlowComparison): FlowState {
  const { mode, level, opened, pin, at, annotations } = state
  requireMode(mode)
  oneOf('level', level, FLOW_LEVELS)
  if (!Array.isArray(opened)) throw new OptionError('opened', opened, 'a list of ids of groups')
  coalesceFlow(flows, { groups: groupsAt(flows, level), opened })
  if (pin !== null && !isShared(flows, pin)) {
    throw new OptionError('pin', pin, 'the id of a step that is in both flows, or null')
  }
  if (!(at >= 0 && at <= 1)) throw new OptionError('at', at, 'a number from 0 to 1')
  if (!Array.isArray(annotations)) {
    throw new OptionError('annotations', annotations, 'a list of notes')
  }
  for (const note of annotations) requireNote(note, flows)
  return { mode, level, opened: [...opened], pin, at, annotations: [...annotations] }
}

function isShared({ nodes }: FlowComparison, id: number): boolean {
  const node = nodes[id]
  return node?.inBefore === true && node.inAfter
}

function requireNote(note: FlowAnnotation, { nodes, edges }: FlowComparison): void {
  rejectUnknownOptions(note, ['node', 'edge', 'mark', 'comment'])
  const { node, edge, mark, comment } = note
  const isOnOne = (node === undefined) !== (edge === undefined)
  const isThere = node === undefined ? edges[edge ?? -1] : nodes[node]
  const isPlain =
    (mark === undefined || typeof mark === 'boolean') &&
    (comment === undefined || typeof comment === 'string')
  if (isOnOne && isThere !== undefined && isPlain) return
  throw new OptionError(
    'annotations',
    JSON.stringify(note),
    'notes such as { node: 0, mark: true } or { edge: 2, comment: "why?" }, by ids of the union',
  )
}

function oneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return
  throw new OptionError(option, value, allowed.map((each) => `'${each}'`).join(' or '))
}

function requireMode(mode: string): void {
  // The word on its button.
  if (mode === 'difference') {
    throw new OptionError('mode', mode, "'diff', which is what shows the difference")
  }
  oneOf('mode', mode, FLOW_MODES)
}
