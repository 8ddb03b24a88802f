import { InvalidArgumentError } from 'commander'

/** Reads an option that is a number; commander adds the option's name to the message. */
export function numberBetween(low: number, high = Number.POSITIVE_INFINITY) {
  return (text: string): number => {
    const value = Number(text)
    if (text.trim() === '' || !(value >= low && value <= high)) {
      const range = high === Number.POSITIVE_INFINITY ? `${low} or more` : `${low} to ${high}`
      throw new InvalidArgumentError(`Give a number, ${range}.`)
    }
    return value
  }
}

/** Reads an option that is a count. */
export function countFrom(low: number) {
  return (text: string): number => {
    const value = numberBetween(low)(text)
    if (!Number.isInteger(value)) throw new InvalidArgumentError('Give a whole number.')
    return value
  }
}

/** Reads SM_P_THRESHOLD: a number of requests, or `auto`. */
export function requestsOrAuto(text: string): number | 'auto' {
  if (text.toLowerCase() === 'auto') return 'auto'
  const requests = Number(text)
  if (text.trim() !== '' && Number.isFinite(requests) && requests >= 0) return requests
  throw new InvalidArgumentError("Give a number of requests, 0 or more, or 'auto'.")
}
