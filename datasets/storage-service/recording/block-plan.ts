export type Period = 'before' | 'after'

/** A stretch of the recording under one configuration. */
export interface Block {
  readonly period: Period
  /** Blocks of the same pair get the same requests. */
  readonly pair: number
  readonly requests: number
}

/**
 * `pairs` blocks of each period, alternating; every other pair is turned round (b a, a b, b a, …),
 * so that a machine that steadily gets slower favours neither period. Together the blocks of a
 * period have `requests` requests.
 */
export function planBlocks(pairs: number, requests: number): Block[] {
  const blocks: Block[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const share = Math.floor(requests / pairs) + (pair < requests % pairs ? 1 : 0)
    const order: Period[] = pair % 2 === 0 ? ['before', 'after'] : ['after', 'before']
    for (const period of order) blocks.push({ period, pair, requests: share })
  }
  return blocks
}
