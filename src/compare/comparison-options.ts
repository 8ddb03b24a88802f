import {
  count,
  defineOptions,
  flag,
  type OptionsOf,
  type OptionTable,
  oneOf,
} from '../core/options.ts'
import { FLOW_OPTIONS, type FlowSet } from '../flows/flow-set.ts'
import { FOLD_OPTIONS } from '../flows/fold/folded-flows.ts'
import { CATEGORY_OPTIONS } from './categories/categories.ts'
import { EDGE_OPTIONS } from './edges/find-edge-changes.ts'
import { INTERFERENCE_OPTIONS } from './interference/interference.ts'
import { KNOWLEDGE_OPTIONS } from './knowledge/knowledge.ts'
import { RESPONSE_TIME_OPTIONS } from './mutations/find-response-time-mutations.ts'
import { STRUCTURAL_OPTIONS } from './mutations/find-structural-mutations.ts'
import { EVENT_OPTIONS } from './onset/events.ts'
import { PRECURSOR_OPTIONS } from './precursors/match-precursors.ts'
import { RANKING_OPTIONS } from './ranking/rank-mutations.ts'
import { SEGMENT_OPTIONS } from './segments/segments.ts'
import { FINDINGS_OPTIONS } from './words/findings.ts'

const { sizeAttribute, sizeUnit } = FOLD_OPTIONS

/** Options that decide what flows look like before they are categorized; see `foldFlows`. */
export const FORM_OPTIONS = defineOptions({
  hostClasses: flag({
    default: false,
    sentence:
      'Replace hosts by classes of hosts with equal performance; see `findHostClasses`. No effect with `omitHosts`',
  }),
  fold: oneOf(['none', 'exact', 'log2'], {
    default: 'none',
    sentence:
      "Fold loops and pipeline lanes into one; 'exact' keeps their number, 'log2' its power of two",
    flag: 'fold <rule>',
  }),
  sizeAttribute,
  sizeUnit,
})

/** Option that bounds how many requests are compared; see `sampledPeriods`. */
const SAMPLE_SIZE_OPTIONS = defineOptions({
  sample: count({
    default: 40_000,
    or: 'all',
    unit: 'requests',
    sentence:
      'Approximate number of requests of a recording to compare; a larger one is reduced to a weighted sample of whole traces, with exact counts, see `traces.sample`',
  }),
})

/** Findings have a threshold of their own; all else that structural mutations take reaches them. */
const { smPThreshold: _, ...STRUCTURAL_EVIDENCE_OPTIONS } = STRUCTURAL_OPTIONS

export const STAGE_OPTIONS = {
  flows: { ...FLOW_OPTIONS, ...FORM_OPTIONS, ...SAMPLE_SIZE_OPTIONS },
  categories: CATEGORY_OPTIONS,
  responseTime: RESPONSE_TIME_OPTIONS,
  structural: STRUCTURAL_OPTIONS,
  precursors: PRECURSOR_OPTIONS,
  evidence: {
    ...FINDINGS_OPTIONS,
    ...PRECURSOR_OPTIONS,
    ...RANKING_OPTIONS,
    ...STRUCTURAL_EVIDENCE_OPTIONS,
  },
  ranking: RANKING_OPTIONS,
  edges: EDGE_OPTIONS,
  steps: EDGE_OPTIONS,
  segments: SEGMENT_OPTIONS,
  findings: {
    ...FINDINGS_OPTIONS,
    ...EVENT_OPTIONS,
    ...INTERFERENCE_OPTIONS,
    ...KNOWLEDGE_OPTIONS,
  },
} as const satisfies Record<string, OptionTable>

export type StageName = keyof typeof STAGE_OPTIONS

export const COMPARISON_OPTIONS = defineOptions({
  ...STAGE_OPTIONS.flows,
  ...STAGE_OPTIONS.categories,
  ...STAGE_OPTIONS.responseTime,
  ...STAGE_OPTIONS.structural,
  ...STAGE_OPTIONS.findings,
  ...STAGE_OPTIONS.precursors,
  ...STAGE_OPTIONS.ranking,
  ...STAGE_OPTIONS.edges,
  ...STAGE_OPTIONS.segments,
})

/** The options of every stage of a comparison; see the stages for meanings and defaults. */
export type ComparisonOptions = OptionsOf<typeof COMPARISON_OPTIONS>

const HOSTS = ['omitHosts'] as const

/**
 * Returns the options that a stage depends on. A number as threshold needs no level: the slider of α then keeps
 * structures and precursors. What repeats depends on hosts in labels.
 */
export function stageOptions(
  name: string,
  { smPThreshold, fold, hostClasses }: ComparisonOptions,
): readonly (keyof ComparisonOptions)[] {
  const table = name in STAGE_OPTIONS ? STAGE_OPTIONS[name as StageName] : {}
  const names = Object.keys(table) as (keyof ComparisonOptions)[]
  if (name === 'flows') {
    return [...names, ...(fold === 'none' && !hostClasses ? [] : HOSTS)]
  }
  return name === 'structural' && smPThreshold !== 'auto'
    ? names.filter((option) => option !== 'alpha')
    : names
}

/**
 * Whether a change of options affects a stage. Flows depend on `counts`
 * only in whether requests are weighted, which `counting` tells.
 */
export function reachesStage(
  name: string,
  now: ComparisonOptions,
  old: ComparisonOptions,
  counting: FlowSet['counting'],
): boolean {
  const settingOf = (options: ComparisonOptions, option: keyof ComparisonOptions) => {
    if (option === 'counts' && name === 'flows') {
      return now.counts === old.counts || counting(options.counts) === 'weighted'
    }
    return options[option]
  }
  return stageOptions(name, now).some((option) => settingOf(now, option) !== settingOf(old, option))
}
