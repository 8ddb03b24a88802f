import { counted } from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { type ComparisonWarning, warning } from './comparison-warning.ts'

/** Whether some flows are so tangled that the search for repetitions was broken off. */
export function unfinishedFolding({ flows }: { readonly flows: FlowSet }): ComparisonWarning[] {
  const unfinished = flows instanceof FoldedFlows ? flows.unfinished : 0
  if (unfinished === 0) return []
  return [
    warning('unfinished-folding', {
      finding: `In ${counted(unfinished, 'recorded form')} of flows the search for repetitions was broken off.`,
      effect: 'What they repeat may not be folded, so one category may appear as several.',
      answer: 'Compare with `fold: "none"` (--fold none) to see them as they were recorded.',
    }),
  ]
}
