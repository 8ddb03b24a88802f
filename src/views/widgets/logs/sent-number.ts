/** A number as JSON can carry it: what is not finite as text. */
export type SentNumber = number | string

/** A number, to so many significant digits where given. */
export function sentNumber(value: number, digits?: number): SentNumber {
  if (!Number.isFinite(value)) return String(value)
  return digits === undefined ? value : Number(value.toPrecision(digits))
}

/** The number that was sent. */
export function readNumber(sent: SentNumber): number {
  return Number(sent)
}
