/**
 * What measures flowdelta, for notebooks: the quality of ranked lists, false alarms, the testbed of
 * the latency what-if. It is no part of the published package.
 *
 * The build writes it to `dist/evaluation.cjs` with a copy of the library of its own. Its charts
 * draw themselves, and `show` of `flowdelta` shows them in a notebook.
 */
import { connectCharts } from '../src/views/notebook/connect-charts.ts'

export { evaluateComparison } from './evaluate-comparison.ts'
export { type HdfsRow, hdfsTable, type NodeCounts, THESIS_HDFS_TABLE } from './hdfs-table.ts'
export { compareHalves, type NullRates } from './null-comparisons.ts'
export { type BaselineQualities, operationBaselines } from './operation-baselines.ts'
export { type RankedQuality, rankedQuality } from './ranked-quality.ts'
export { firstRelevantFinding } from './relevant-finding.ts'
export { resultsText } from './results-text.ts'
export { LOAD_TESTED, slowedModel } from './service-model.ts'
export type { EvaluatedChange } from './testbed/evaluate-change.ts'
export { evaluateWhatIf, type WhatIfEvaluationOptions } from './testbed/evaluate-whatif.ts'
export { type GeneratedSystemOptions, generateSystem } from './testbed/generate-system.ts'
export { learnSystem } from './testbed/learn-system.ts'
export { makeTerminal, substituteCall } from './testbed/perturb-system.ts'
export {
  plotWhatIfEvaluation,
  type WhatIfEvaluationChartOptions,
} from './testbed/plot-whatif-evaluation.ts'
export { type SimulationOptions, simulateSystem } from './testbed/simulate-system.ts'
export {
  type CallChain,
  callChains,
  type SimulatedSystem,
  systemSize,
} from './testbed/simulated-system.ts'
export { WhatIfEvaluation } from './testbed/whatif-evaluation.ts'
export { type ThesisRow, thesisRow } from './thesis-table.ts'
export type { Truth } from './truth.ts'

connectCharts()
