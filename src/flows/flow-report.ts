import { Stage } from '../core/stage.ts'
import { type StageTable, stageTable } from '../core/stage-table.ts'

const MEANINGS = {
  asynchronousSpans: 'spans their parent does not wait for: they have no edge to its reply',
  clampedStarts: 'spans that start before their parent: taken as starting with it',
  outsideParent: 'spans wholly outside their parent: asynchronous, or from another clock',
  learnedPairs: 'pairs of sibling operations whose order was learned',
  differingPairs: 'pairs whose order differs between the periods: each keeps its own',
  differingWaits: 'children that the parent waits for in one period only: each keeps its own',
  orderViolations: 'calls in which siblings overlap although the learned rule orders them',
  circularOrders: 'calls whose learned orders contradict each other: built as observed',
  coarseClocks: 'operations whose starts are cut to milliseconds: replies get 1 ms of slack',
  wideCalls: 'calls with too many children to learn from: built as observed',
} as const

export type FlowReportEntry = keyof typeof MEANINGS

/** How often each decision was taken while flows were built. */
export class FlowReport extends Stage {
  readonly counts: Readonly<Record<FlowReportEntry, number>>

  constructor(counts: Partial<Record<FlowReportEntry, number>> = {}) {
    super()
    const zero = Object.fromEntries(Object.keys(MEANINGS).map((entry) => [entry, 0]))
    this.counts = { ...(zero as Record<FlowReportEntry, number>), ...counts }
  }

  /** One row a decision: how often, and what it means. */
  table(): StageTable {
    const entries = Object.keys(MEANINGS) as FlowReportEntry[]
    return stageTable({
      decision: entries,
      count: entries.map((entry) => this.counts[entry]),
      meaning: entries.map((entry) => MEANINGS[entry]),
    })
  }
}
