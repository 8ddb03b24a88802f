import type { CheckedType, Estimate, RunCheck } from './check-run.ts'

/** Type of requests with the verdict of `--fail-on` and `--warn-on`. */
export interface JudgedType extends CheckedType {
  readonly verdict: 'pass' | 'warn' | 'fail'
  /** Conditions that make it fail, or else warn. */
  readonly conditions: readonly string[]
  /** Whether it warns of a shift, or of failures, that runs before are too few to be sure of. */
  readonly isUntold: boolean
  /** Conditions of `--fail-on` that its interval does not rule out. */
  readonly possible: readonly string[]
}

/** Limits for a type of requests. */
export interface RunCondition {
  readonly text: string
  readonly holds: (type: CheckedType, check: RunCheck) => boolean
}

interface RunConditions {
  readonly failOn: readonly RunCondition[]
  readonly warnOn: readonly RunCondition[]
  /** Conditions for quantities that no given condition judges. */
  readonly byDefault: readonly RunCondition[]
}

/** Judges each type of requests of a run: it fails, else warns, else passes. */
export function judgeTypes(
  check: RunCheck,
  { failOn, warnOn, byDefault }: RunConditions,
): JudgedType[] {
  const meets = (type: CheckedType, given: readonly RunCondition[]) =>
    given.filter(({ holds }) => holds(type, check)).map(({ text }) => text)
  return check.types.map((type): JudgedType => {
    // A result up to the other bounds cannot be ruled out.
    const worstOf = (of: Estimate) => ({ ...of, low: of.high })
    const { errors, tail } = type
    const worst = {
      ...type,
      shift: worstOf(type.shift),
      errors: errors && { ...errors, growth: worstOf(errors.growth) },
      tail: tail && { ...tail, growth: worstOf(tail.growth) },
    }
    const fails = meets(type, failOn)
    // With only a few earlier runs, a result far worse than any of them is a warning, not a pass.
    const isSlower = type.isApart && !(type.shift.low > 0)
    const isUntold = isSlower || failsUntold(type)
    const warns = [
      ...(isUntold ? meets(worst, [...failOn, ...warnOn]) : meets(type, warnOn)),
      ...meets(type, byDefault),
    ]
    return {
      ...type,
      verdict: fails.length > 0 ? 'fail' : warns.length > 0 ? 'warn' : 'pass',
      conditions: fails.length > 0 ? fails : warns,
      isUntold: fails.length === 0 && warns.length > 0 && isUntold,
      possible: meets(worst, failOn).filter((each) => each.includes('>')),
    }
  })
}

/** Whether clearly more requests fail than in each run before, which are too few to be sure of it. */
export function failsUntold({ failsApart, errors }: CheckedType): boolean {
  return failsApart && !((errors?.growth.low ?? 0) > 0)
}
