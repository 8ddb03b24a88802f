import type { FlowScene } from './flow-scene.ts'

/** Runs of fewer pairs are short enough to be drawn whole. */
const SHORTEST_RUN = 3

/** Ids of steps of both flows that follow each other in both, from top to bottom. */
export type SharedRun = readonly number[]

/** Every step that is in both flows, in the contiguous run it belongs to. */
export function sharedRuns({ steps, links }: FlowScene): SharedRun[] {
  const next = new Map<number, number>()
  const previous = new Map<number, number>()
  const forked = new Set<number>()
  const joined = new Set<number>()
  for (const { from, to, inBefore, inAfter } of links) {
    if (!inBefore || !inAfter) continue
    if (next.has(from)) forked.add(from)
    if (previous.has(to)) joined.add(to)
    next.set(from, to)
    previous.set(to, from)
  }
  const follows = (id: number) => {
    const follower = forked.has(id) ? undefined : next.get(id)
    return follower === undefined || joined.has(follower) ? undefined : follower
  }
  const isFollower = new Set(steps.map(({ id }) => follows(id)))
  return steps
    .filter(({ id, inBefore, inAfter }) => inBefore && inAfter && !isFollower.has(id))
    .map(({ id }) => {
      const run = [id]
      for (let at = follows(id); at !== undefined; at = follows(at)) run.push(at)
      return run
    })
}

/**
 * Which steps get a line to their like: all of a run, or where lines would crowd only its two ends.
 *
 * @param heightOf how far down a step stands, on the side where lines are closer
 */
export function linedSteps(
  runs: readonly SharedRun[],
  heights: readonly ((id: number) => number)[],
  leastApart: number,
): number[] {
  return runs.flatMap((run) => {
    const [first, last] = [run[0], run.at(-1)]
    if (run.length < SHORTEST_RUN || first === undefined || last === undefined) return run
    const apart = heights.map((heightOf) => (heightOf(last) - heightOf(first)) / (run.length - 1))
    return Math.min(...apart) < leastApart ? [first, last] : run
  })
}
