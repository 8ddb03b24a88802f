import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'

/** Stretches of time that each period is divided into. */
export const BLOCKS = 10

/**
 * Divides each period into ten stretches of time with as many requests each, so that tests can see
 * how far the level wanders by itself.
 *
 * @returns the number of each request's stretch, from 0 in each period
 */
export function timeBlocks({ period, startUs, size }: FlowSet): Uint8Array {
  const blocks = new Uint8Array(size)
  for (const one of [BEFORE, AFTER] satisfies Period[]) {
    const requests = Array.from(period.keys()).filter((request) => period[request] === one)
    requests.sort((a, b) => (startUs[a] as number) - (startUs[b] as number) || a - b)
    requests.forEach((request, at) => {
      blocks[request] = Math.floor((BLOCKS * at) / requests.length)
    })
  }
  return blocks
}
