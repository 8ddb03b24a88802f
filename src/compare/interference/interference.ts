import { defineOptions, flag } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { percent } from '../../core/words.ts'
import type { Step } from '../steps/step-times.ts'
import type { Shared } from './activity.ts'

export const INTERFERENCE_OPTIONS = defineOptions({
  interference: flag({
    default: true,
    sentence: 'Find other requests that delay the ones in findings',
  }),
})

/** Calls that were slower than this share of those before are slow. */
export const SLOW = 0.95
/** Fewest slow calls that are compared with usual ones. */
export const MIN_SLOW = 8
/** Fewest of them that a group of other requests was under way in. */
export const MIN_MET = 5

/** A step, and the operation that a finding tells. */
export interface ToldStep extends Step {
  readonly operation: string
}

/** Other requests that were under way at the places of slow calls. */
export interface Others {
  /** Operation of these requests; `null` for any. */
  readonly operation: string | null
  /** Attribute they have in common, `host` too; `null` for none. */
  readonly attribute: string | null
  /** Value of the attribute. */
  readonly value: string | null
  /** Name in words: `NFS3 READDIRPLUS of tenant.id = batch-co`. */
  readonly text: string
  /** Resource that they share with the calls. */
  readonly shared: Shared
  /** Share of the time of slow calls, and of usual ones, in which any of them was under way. */
  readonly slow: number
  readonly usual: number
  /** The same for all calls before. */
  readonly before: number
  /** Part of the change that calls took longer by, the more of them were under way. */
  readonly explained: number
  readonly p: number
  /** p corrected for all that was compared. */
  readonly q: number
}

interface InterferenceColumns {
  /** Step that is slower; `null` where the finding has none. */
  readonly step: ToldStep | null
  /** Slow calls after that were compared, and usual ones. */
  readonly slowCalls: number
  readonly usualCalls: number
  /** Requests that hold up the slow calls, the surest first. */
  readonly interferers: readonly Others[]
  /** All compared groups, those that overlap more with slow calls than with usual ones first. */
  readonly compared: readonly Others[]
}

/** Requests that interfere with a step, and the other compared groups: the result of {@link findInterference}. */
export class Interference extends columnarStage<InterferenceColumns>() {
  /** Returns one row per group of other requests that was compared. */
  table(): StageTable {
    const named = new Set(this.interferers)
    return rowTable(this.compared, {
      requests: 'text',
      shared: 'shared',
      interferes: (one) => named.has(one),
      ...own('slow usual before explained p q'),
    })
  }
}

export const NO_INTERFERENCE = new Interference({
  step: null,
  slowCalls: 0,
  usualCalls: 0,
  interferers: [],
  compared: [],
})

export function interferenceClause(interference: Interference | null): string {
  const [first] = interference?.interferers ?? []
  return first === undefined ? '' : `, while ${first.text} ${sharing(first.shared)}`
}

/** Returns text that names the requests holding up slow calls, to follow the service of these calls. */
export function interferenceLook(interference: Interference | null): string {
  const [first] = interference?.interferers ?? []
  return first === undefined ? '' : `, and ${first.text}`
}

export function interferenceFacts(interference: Interference | null): string[] {
  return (interference?.interferers ?? []).map(
    ({ operation, text, slow, usual }) =>
      `${operation ?? text} runs during ${percent(slow)} of the time of slow calls, ${percent(usual)} of usual ones`,
  )
}

function sharing(shared: Shared): string {
  if (shared === 'service') return 'is at the same service'
  return shared === 'host' ? 'is on the same host' : `uses the same ${shared}`
}
