import type { RandomSource } from '../../src/stats/random.ts'

/** Who calls whom: by service, service 0 being the one that requests come to. */
export interface ServiceTree {
  /** Services that each service calls. */
  readonly callees: readonly (readonly number[])[]
  /** Mean of what each service spends at a time, µs. */
  readonly ownUs: readonly number[]
}

/** Chains of calls are no longer than this, the first service not counted. */
const DEEPEST = 5
/** Share of the services that call nothing and are called by a second one as well. */
const SHARED = 0.15
/** Mean and standard deviation of the logarithm of what services spend. */
const OWN_US = { mu: Math.log(400), sigma: 0.6 }

/**
 * A tree of services, at random: some fan out from the first, every other is called by a service that
 * came before it; some of those that call nothing have a second caller.
 */
export function serviceTree(services: number, random: RandomSource): ServiceTree {
  const callees: number[][] = [[]]
  const depth = [0]
  const first = Math.min(services - 1, Math.max(2, Math.round(1.2 * Math.sqrt(services))))
  for (let service = 1; service < services; service++) {
    let caller = 0
    if (service > first) {
      do caller = 1 + random.integer(service - 1)
      while ((depth[caller] as number) >= DEEPEST)
    }
    callees.push([])
    callees[caller]?.push(service)
    depth.push((depth[caller] as number) + 1)
  }
  for (let service = 1; service < services; service++) {
    if ((callees[service] as number[]).length > 0 || random.next() >= SHARED) continue
    // One that calls nothing stays so, that it may be shared itself.
    const others = callees
      .slice(0, service)
      .filter((theirs) => theirs.length > 0 && !theirs.includes(service))
    if (others.length > 0) others[random.integer(others.length)]?.push(service)
  }
  return { callees, ownUs: depth.map(() => random.logNormal(OWN_US.mu, OWN_US.sigma)) }
}
