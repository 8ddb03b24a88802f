/** Keeps the processor busy for `durationUs`. */
export function spin(durationUs: number): void {
  const endNs = process.hrtime.bigint() + BigInt(Math.round(durationUs * 1000))
  while (process.hrtime.bigint() < endNs);
}
