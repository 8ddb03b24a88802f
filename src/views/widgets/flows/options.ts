import {
  custom,
  defineOptions,
  number,
  type OptionsOf,
  oneOf,
  optionalNumber,
  share,
} from '../../../core/options.ts'
import type { ReadableNames } from '../../../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowChoice } from '../../../explain/flow-pair/flow-pair.ts'
import { STAGE_NAME } from '../define-widget.ts'
import { type FlowAnnotation, type FlowLevel, type FlowMode, LEVELS, MODES } from './flow-scene.ts'

/** A mutation of the ranking, as far as its flows go. */
type MutationOfFlow = { readonly category: number; readonly kind: 'structural' | 'response-time' }

/** Options of the comparison of two flows, and its state. */
export const FLOWS_WIDGET_OPTIONS = defineOptions({
  category: optionalNumber(
    'Category whose flow is compared; null for that of the highest-ranked mutation',
  ),
  mutation: custom<MutationOfFlow | null>({
    default: null,
    sentence: 'Mutation of the ranking whose flow is compared, instead of a category',
    expected: 'a mutation of `comparison.ranking`, or null',
    accepts: (mutation) =>
      mutation === null ||
      (typeof mutation === 'object' && Number.isInteger((mutation as MutationOfFlow).category)),
  }),
  origin: oneOf(['precursor', 'itself'], {
    default: 'precursor',
    sentence:
      'What a structural mutation is compared with: its likeliest precursor, or itself before',
  }),
  before: flowChoice('Flow on the left, where any two are compared: { category, period }'),
  after: flowChoice('Flow on the right, where any two are compared: { category, period }'),
  names: custom<ReadableNames | null>({
    default: null,
    sentence: 'Readable names for node labels: a function or a record; null for the labels',
    expected: 'a function or a record from labels to names, or null',
    accepts: (names) => typeof names === 'function' || typeof names === 'object',
  }),
  largeShift: share({
    default: 0.03,
    sentence: 'Share of the mean response time from which a change of an edge is large',
  }),
  mode: oneOf(Object.keys(MODES) as FlowMode[], {
    default: 'diff',
    sentence:
      'Both flows as one graph, two graphs with lines between the same steps, or one turning into the other',
  }),
  level: oneOf([...(Object.keys(LEVELS) as FlowLevel[]), null], {
    default: null,
    sentence:
      'How steps are grouped: not at all, identical steps as one box, also added and removed ones, or all steps of a component; null picks the first with few enough boxes to read',
  }),
  opened: custom<readonly number[]>({
    default: [],
    sentence: 'Ids of groups of that level that are drawn step by step all the same',
    expected: 'a list of ids of groups',
    accepts: (ids) => Array.isArray(ids),
  }),
  pin: number({
    default: null,
    or: null,
    sentence: 'Side by side, the id of the step at which both flows are aligned; null for the root',
  }),
  at: share({ default: 0, sentence: 'How far the animation is, from before to after' }),
  annotations: custom<readonly FlowAnnotation[]>({
    default: [],
    sentence: 'Marks and comments on steps and edges',
    expected: 'a list of notes',
    accepts: (notes) => Array.isArray(notes),
  }),
  name: STAGE_NAME,
})

export type FlowsWidgetOptions = OptionsOf<typeof FLOWS_WIDGET_OPTIONS>

function flowChoice(sentence: string) {
  return custom<FlowChoice | null>({
    default: null,
    sentence,
    expected: '{ category, period }, with period 0 for before and 1 for after',
    accepts: (choice) =>
      choice === null ||
      (typeof choice === 'object' &&
        Number.isInteger((choice as FlowChoice).category) &&
        [0, 1].includes((choice as FlowChoice).period)),
  })
}
