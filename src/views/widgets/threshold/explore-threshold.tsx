import type { Comparison } from '../../../compare/comparison.ts'
import { takeSnapshot } from '../../../compare/snapshot.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { grouped } from '../../../core/words.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { type ThresholdData, thresholdCurve, thresholdResult } from './threshold-model.ts'
import { ThresholdPicture } from './threshold-picture.tsx'

/** How the threshold explorer is shown. */
export interface ThresholdExplorerOptions {
  /** Rows of the ranking. Default 10. */
  readonly limit?: number
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

/**
 * A slider for `SM_P_THRESHOLD` with the counts of mutations and precursors behind it, and for the
 * level α, the correction and the 1:N rule; ranking and precursor candidates follow. What it
 * shows is what `comparison.with(…)` gives, computed in the page by the same code.
 *
 * @param comparison from `compare`
 * @param options see {@link ThresholdExplorerOptions}
 * @throws OptionError for a limit below 1, FlowdeltaError for an unknown option
 *
 * @example
 * exploreThreshold(comparison, { limit: 5 }).title // 'Threshold explorer'
 */
export function exploreThreshold(
  comparison: Comparison,
  options: ThresholdExplorerOptions = {},
): Widget {
  rejectUnknownOptions(options, ['limit', 'name'])
  const { limit = 10, name = 'comparison' } = options
  if (!Number.isInteger(limit) || limit < 1) {
    throw new OptionError('limit', limit, 'a number of rows, 1 or more')
  }
  const { flows, ranking, categories } = comparison
  const data: ThresholdData = { snapshot: takeSnapshot(comparison), limit, name }
  return new Widget({
    ...{ view: 'threshold', title: 'Threshold explorer', data },
    description:
      `${grouped(ranking.mutations.length)} mutations among ${grouped(categories.size)} categories of ` +
      `${grouped(flows.size)} requests; drag SM_P_THRESHOLD and the level, and the ranking follows.`,
    picture: () =>
      renderSvg(
        <ThresholdPicture
          curve={thresholdCurve(comparison)}
          result={thresholdResult(comparison, limit)}
          threshold={comparison.options.smPThreshold}
          ink={PICTURE_INK}
        />,
      ),
  })
}
