const TINY = 1e-300

/** A value that may be divided by: Lentz's method puts a tiny one in the place of 0. */
export function awayFromZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value
}
