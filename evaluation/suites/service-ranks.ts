import type { Finding } from '../../src/compare/findings/finding.ts'

/** The numbers of first services that a ranking is judged by. */
export const FIRST = [1, 3, 5] as const

/** Share of faults whose service is among the first 1, 3 and 5 (AS@k). */
export type Accuracy = readonly [at1: number, at3: number, at5: number]

/**
 * Returns the services that findings name, in order of first mention: finding by finding, the
 * consequences of one after it.
 */
export function servicesNamed(
  findings: readonly Pick<Finding, 'services' | 'consequences'>[],
): string[] {
  const named = findings.flatMap(({ services, consequences }): string[] => [
    ...services,
    ...servicesNamed(consequences),
  ])
  return [...new Set(named)]
}

/** Returns the place of a service among `services`, from 1; `null` if it is not there. */
export function rankOf(service: string, services: readonly string[]): number | null {
  const place = services.indexOf(service)
  return place < 0 ? null : place + 1
}

/** Returns AS@1, 3 and 5 of ranks, in which `null` is a service not named; `NaN` for no ranks. */
export function accuracy(ranks: readonly (number | null)[]): Accuracy {
  const share = (first: number) =>
    ranks.filter((rank) => rank !== null && rank <= first).length / ranks.length
  const [one, three, five] = FIRST
  return [share(one), share(three), share(five)]
}
