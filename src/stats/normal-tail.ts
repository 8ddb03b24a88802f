import { erfc } from './erfc.ts'
import type { Alternative } from './ks-p-value.ts'

/** P(Z > z) of a standard normal Z, with full relative precision far into the tail. */
export function normalTail(z: number): number {
  return 0.5 * erfc(z * Math.SQRT1_2)
}

/** The p of a z that is positive where after is slower. */
export function normalP(z: number, alternative: Alternative): number {
  if (alternative === 'slower') return normalTail(z)
  if (alternative === 'faster') return normalTail(-z)
  return erfc(Math.abs(z) * Math.SQRT1_2)
}
