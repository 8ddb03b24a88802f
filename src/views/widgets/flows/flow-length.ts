/** Shortest and longest edge, in pixels. The shortest has room for its label and for two bends. */
export const SHORTEST_EDGE = 26
const LONGEST_EDGE = 156

/** A latency in the middle of the scale, as a power of ten of a microsecond: 1 ms. */
const MIDDLE = 3
/** How many powers of ten a step of the logistic function spans. */
const SPREAD = 1

/**
 * How long an edge is drawn, in pixels: a sigmoid of the latency's logarithm, so that microseconds
 * and seconds are both visible, and longer is always longer. The same for all flows.
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.5, which leaves the function open.
 *
 * @param latencyUs in µs; `null` where there is none
 */
export function edgeLength(latencyUs: number | null): number {
  if (latencyUs === null || !(latencyUs > 0)) return SHORTEST_EDGE
  const share = 1 / (1 + Math.exp((MIDDLE - Math.log10(latencyUs)) / SPREAD))
  return SHORTEST_EDGE + (LONGEST_EDGE - SHORTEST_EDGE) * share
}
