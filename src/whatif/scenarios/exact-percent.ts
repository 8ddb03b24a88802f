/** A share that was given, as it was given: `12.5 %`, `99.9 %`. */
export function exactPercent(share: number): string {
  return `${Number((100 * share).toPrecision(12))} %`
}
