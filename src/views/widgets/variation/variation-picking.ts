/** A category somewhere in a plot, in pixels of the drawing. */
export interface Spot {
  readonly category: number
  readonly x: number
  readonly y: number
}

/** Further away a pointer means nothing. */
const REACH = 24

/** The spot nearest to a point, if it is near at all. */
export function nearestSpot(
  spots: readonly Spot[],
  at: { readonly x: number; readonly y: number },
): Spot | undefined {
  let nearest: Spot | undefined
  let least = REACH ** 2
  for (const spot of spots) {
    const distance = (spot.x - at.x) ** 2 + (spot.y - at.y) ** 2
    if (distance > least) continue
    least = distance
    nearest = spot
  }
  return nearest
}

/**
 * The spot that a key leads to: right and left through all spots from left to right, up and down
 * through all from the bottom up. `undefined` for other keys.
 */
export function keyedSpot(
  spots: readonly Spot[],
  from: Spot | undefined,
  key: string,
): Spot | undefined {
  const isAcross = key === 'ArrowRight' || key === 'ArrowLeft' || key === 'Home' || key === 'End'
  const isUp = key === 'ArrowUp' || key === 'ArrowDown'
  if (!isAcross && !isUp) return undefined
  const ordered = [...spots].sort((a, b) =>
    isUp
      ? b.y - a.y || a.x - b.x || a.category - b.category
      : a.x - b.x || b.y - a.y || a.category - b.category,
  )
  if (key === 'End') return ordered.at(-1)
  if (key === 'Home' || from === undefined) return ordered[0]
  const step = key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1
  const place = ordered.findIndex(
    ({ category, x, y }) => category === from.category && x === from.x && y === from.y,
  )
  return ordered[Math.min(ordered.length - 1, Math.max(0, place + step))]
}
