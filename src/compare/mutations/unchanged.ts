/**
 * Why a difference does not count as a change. `'not tested'`: too few requests have it, or they do not differ. `'may be chance'`: it is not
 * significant. `'too small'`: for the requests that have it. `'too small in all'`: for all requests together. `'not
 * borne out'`: the order or the times of calls do not bear it out. `'lost spans'`: spans that were lost explain it.
 */
export type Unchanged =
  | 'not tested'
  | 'may be chance'
  | 'too small'
  | 'too small in all'
  | 'not borne out'
  | 'lost spans'

/** Returns why a difference is no change, by its corrected p and then by what else speaks against it; `null` if it is. */
export function whyUnchanged(
  q: number,
  { alpha }: { readonly alpha: number },
  against: () => readonly (Unchanged | false)[] = () => [],
): Unchanged | null {
  if (Number.isNaN(q)) return 'not tested'
  if (!(q < alpha)) return 'may be chance'
  return against().find((one) => one !== false) ?? null
}
