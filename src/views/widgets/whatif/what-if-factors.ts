/** Places of a slider to the right of its middle; those to the left are its mirror image. */
const SLOWER = [
  ...[1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5],
  ...[2.8, 3.2, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9, 10],
] as const
const FASTER = [
  ...[0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4],
  ...[0.35, 0.32, 0.28, 0.25, 0.22, 0.2, 0.18, 0.16, 0.14, 0.125, 0.11, 0.1],
] as const

/** How far a slider reaches to either side. */
export const SLIDER_REACH = SLOWER.length

/** The factor at a place, from `-SLIDER_REACH` (a tenth) over 0 (as it is) to `SLIDER_REACH` (ten times). */
export function factorAt(place: number): number {
  const steps = Math.min(SLIDER_REACH, Math.abs(Math.round(place)))
  if (steps === 0) return 1
  return (place < 0 ? FASTER : SLOWER)[steps - 1] as number
}

/** The place nearest to a factor, the ends for what is beyond. */
export function placeOfFactor(factor: number): number {
  if (!(factor > 0)) return -SLIDER_REACH
  const far = (place: number) => Math.abs(Math.log(factorAt(place) / factor))
  let nearest = -SLIDER_REACH
  for (let place = nearest; place <= SLIDER_REACH; place++) {
    if (far(place) < far(nearest)) nearest = place
  }
  return nearest
}
