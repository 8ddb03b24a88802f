export interface Stretch {
  readonly startUs: number
  readonly endUs: number
}

/** Puts each stretch, in order of its start, into the lowest free lane: none overlap in a lane. */
export function lanesOf(byStart: readonly Stretch[]): { lanes: Uint32Array; count: number } {
  const lanes = new Uint32Array(byStart.length)
  const freeFromUs: number[] = []
  byStart.forEach(({ startUs, endUs }, i) => {
    const free = freeFromUs.findIndex((fromUs) => fromUs <= startUs)
    const lane = free < 0 ? freeFromUs.length : free
    lanes[i] = lane
    freeFromUs[lane] = endUs
  })
  return { lanes, count: freeFromUs.length }
}

export function longestPause(byStart: readonly Stretch[]): { fromUs: number; lengthUs: number } {
  let busyUntilUs = byStart[0]?.startUs ?? 0
  let longest = { fromUs: busyUntilUs, lengthUs: 0 }
  for (const { startUs, endUs } of byStart) {
    const lengthUs = startUs - busyUntilUs
    if (lengthUs > longest.lengthUs) longest = { fromUs: busyUntilUs, lengthUs }
    busyUntilUs = Math.max(busyUntilUs, endUs)
  }
  return longest
}
