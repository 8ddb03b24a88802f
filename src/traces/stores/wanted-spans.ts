import { servicesWithin } from './pushed-conditions.ts'
import type { StoreQuery } from './store.ts'

/** What is asked for, as far as the times and services of spans say it. */
export interface Wanted {
  /** What `seen` gives for all spans of a request together if it can be asked for. */
  readonly all: number
  /** One bit for each thing asked for that spans of these services between these times have. */
  seen(startUs: number, endUs: number, services: readonly string[]): number
}

/** Returns what a query asks for as far as times and services say it; `null` for everything. */
export function wantedBy({
  fromUs,
  toUs,
  conditions,
}: Pick<StoreQuery, 'fromUs' | 'toUs' | 'conditions'>): Wanted | null {
  const services = servicesWithin(conditions)
  if (fromUs === null && toUs === null && services.length === 0) return null
  return {
    all: 2 ** (services.length + 1) - 1,
    seen: (startUs, endUs, found) =>
      services.reduce(
        (bits, needed, i) => bits | (needed.some((one) => found.includes(one)) ? 2 << i : 0),
        endUs >= (fromUs ?? -Infinity) && startUs < (toUs ?? Infinity) ? 1 : 0,
      ),
  }
}
