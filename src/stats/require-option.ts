import { OptionError } from '../core/errors.ts'

/** @throws OptionError unless `value` is one of `allowed`. */
export function requireOneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return
  throw new OptionError(option, value, allowed.map((each) => `'${each}'`).join(', '))
}

/** @throws OptionError unless `value` lies strictly between 0 and 1. */
export function requireShare(option: string, value: number): void {
  if (value > 0 && value < 1) return
  throw new OptionError(option, value, 'a share above 0 and below 1')
}

/** @throws OptionError unless `value` is an integer of at least `least`. */
export function requireCount(option: string, value: number, least = 1): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new OptionError(option, value, `an integer, ${least} or more`)
}
