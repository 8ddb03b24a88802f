import { compare } from '../../src/comparison/comparison.ts'
import { randomSource } from '../../src/stats/random.ts'
import { shopPeriod } from '../compare/findings/fixture.ts'

interface Simulation {
  readonly runs: number
  readonly comparisons: number
  readonly seed: number
  /** By what factor the run after is slower at one service. */
  readonly factor?: number
}

/**
 * Compares runs of a shop whose network and services have a random level in each run, 10 % up or
 * down, and sizes of their own. Returns how many comparisons report anything.
 */
export function falseAlarms({ runs, comparisons, seed, factor = 1 }: Simulation): number {
  const random = randomSource(seed)
  const level = () => Math.exp(0.1 * normal(random.next(), random.next()))
  let found = 0
  for (let one = 0; one < comparisons; one++) {
    const drawn = (number: number, slower: number) =>
      shopPeriod({
        seed: 1000 * one + number,
        requests: 80 + Math.floor(120 * random.next()),
        networkUs: 100 * level(),
        stockUs: 1000 * level() * slower,
        payUs: 2000 * level(),
      })
    const before = Array.from({ length: runs }, (_, number) => drawn(number + 1, 1))
    const { findings } = compare(before, drawn(runs + 1, factor)).findings
    const isRight = findings.some(({ services }) => services[0] === 'stock')
    if (factor === 1 ? findings.length > 0 : isRight) found++
  }
  return found
}

function normal(u: number, v: number): number {
  return Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v)
}
