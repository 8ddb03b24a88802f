import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { DEFAULT_MASKS, type LogMask } from './masks.ts'

/** How templates are mined. */
export interface MiningOptions {
  /**
   * Depth of the tree, 3 or more: its root, the number of tokens, then a level for each of the first
   * `depth − 2` tokens. Default: `4`.
   */
  readonly depth?: number
  /** A message joins the most similar group if at least this share of tokens is the same. Default: `0.5`. */
  readonly similarity?: number
  /** Different tokens a node tells apart; what comes later goes to its wildcard. Default: `100`. */
  readonly maxChildren?: number
  /** Messages of which no group was made by then stay without a template. Default: `10000`. */
  readonly maxTemplates?: number
  /** What is a variable wherever it stands, in order of precedence. Default: `DEFAULT_MASKS`. */
  readonly masks?: readonly LogMask[]
}

/** @throws OptionError for a number out of its range, or a mask that is none */
export function resolveMining(options: MiningOptions): Required<MiningOptions> {
  rejectUnknownOptions(options, ['depth', 'similarity', 'maxChildren', 'maxTemplates', 'masks'])
  const { depth = 4, similarity = 0.5, maxChildren = 100, maxTemplates = 10_000 } = options
  const { masks = DEFAULT_MASKS } = options
  for (const [name, value, least] of [
    ['depth', depth, 3],
    ['maxChildren', maxChildren, 1],
    ['maxTemplates', maxTemplates, 1],
  ] as const) {
    if (!Number.isInteger(value) || value < least) {
      throw new OptionError(`mining.${name}`, value, `a whole number from ${least} on`)
    }
  }
  if (!(similarity >= 0 && similarity <= 1)) {
    throw new OptionError('mining.similarity', similarity, 'a number between 0 and 1')
  }
  return { depth, similarity, maxChildren, maxTemplates, masks }
}
