import { randomSource } from '../../src/stats/random.ts'
import type { Given } from './make-logs.ts'

/**
 * The benchmark of the oracle `distalyzer_chain.json`, drawn anew: A → M → P, W drives P but does
 * not diverge, R → R2 diverge hugely and have nothing to do with P, Z1 to Z3 are noise. Means and
 * deviations are those of the oracle's data.
 */
export const CHAIN_NAMES = ['A', 'M', 'R', 'R2', 'W', 'Z1', 'Z2', 'Z3'] as const

export function chainBenchmark(seed: number, size: number): Given {
  const random = randomSource(seed)
  const normal = (mean: number, sd: number) => mean + sd * random.normal()
  const draw = (a: number, toM: number, toP: number, r: number) => {
    const rows = Array.from({ length: size }, () => {
      const cause = normal(a, 15)
      const middle = cause + normal(toM, 6)
      const beside = normal(25, 5)
      const distractor = normal(r, 5)
      const noise = [30, 27, 28].map((sd) => normal(200, sd))
      const row = [cause, middle, distractor, distractor + normal(30, 3), beside, ...noise]
      return { row, p: middle + beside + normal(toP, 4) }
    })
    return { rows: rows.map(({ row }) => row), p: rows.map(({ p }) => p) }
  }
  const [after, before] = [draw(150, 35, 20, 900), draw(100, 22, 14, 500)]
  return {
    names: CHAIN_NAMES,
    before: before.rows,
    after: after.rows,
    goodP: before.p,
    badP: after.p,
  }
}
