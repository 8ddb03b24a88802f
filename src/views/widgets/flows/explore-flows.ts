import { Comparison } from '../../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import type { FlowsToCompare } from '../../../explain/flow-pair/flows-to-compare.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { type FlowExplorerOptions, flowData } from './flow-explorer-data.ts'
import { FlowPicture } from './flow-picture.tsx'
import { differenceWords } from './flow-words.ts'

export type { FlowsToCompare } from '../../../explain/flow-pair/flows-to-compare.ts'
export type { FlowExplorerOptions } from './flow-explorer-data.ts'

const OPTIONS = [
  ...['mode', 'level', 'opened', 'pin', 'at', 'annotations', 'names', 'largeShift', 'name'],
]

/**
 * Compares two request flows as graphs, time running down: as a difference, side by side, or one
 * turning into the other. Edges are as long as a sigmoid of their latency; those that changed
 * significantly are outlined red. What is the same in both is drawn as one and can be opened; steps
 * and edges can be marked and commented.
 *
 * A structural mutation is compared with its likeliest precursor, anything else with itself before.
 *
 * @param comparison from `compare`
 * @param what number of a category, a mutation of `comparison.ranking`, `{ category }` for a
 *   category before and after even where it is a structural mutation, or
 *   `{ before: { category, period }, after: { category, period } }`
 * @param options see {@link FlowExplorerOptions}
 * @throws OptionError for a category that is not there or a value that an option cannot have,
 *   FlowdeltaError for an unknown option
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3; Sambasivan 2013, ch. 4.
 *
 * @example
 * exploreFlows(comparison, 0, { mode: 'side-by-side' }).title // 'Flow comparison'
 */
export function exploreFlows(
  comparison: Comparison,
  what: FlowsToCompare,
  options: FlowExplorerOptions = {},
): Widget {
  rejectUnknownOptions(options, OPTIONS)
  if (!(comparison instanceof Comparison)) {
    throw new OptionError('comparison', comparison, 'a comparison from `compare`')
  }
  const data = flowData(comparison, what, options)
  return new Widget({
    ...{ view: 'flow-comparison', title: 'Flow comparison', data },
    description: `${data.title}. ${differenceWords(data)} ${data.confidenceText}`,
    picture: () => renderSvg(FlowPicture({ data })),
  })
}
