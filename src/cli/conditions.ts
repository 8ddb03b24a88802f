import { visibleText } from '../core/errors.ts'
import { custom, type OptionRow } from '../core/options.ts'
import { type Condition, conditionFrom, type Terms } from '../core/result-conditions.ts'
import { grouped, shortText } from '../core/words.ts'
import { MAX_IN_TEXT } from './printing.ts'

/** Defines a flag that takes conditions and may be given more than once. */
export function conditions<Thing, Result>(
  name: string,
  sentence: string,
  terms: Terms<Thing, Result>,
): OptionRow<readonly Condition<Thing, Result>[] | null> {
  return custom<readonly Condition<Thing, Result>[] | null>({
    default: null,
    flag: `${name} <condition>`,
    sentence: `${sentence}; parts are joined by 'and'; may be given more than once`,
    expected: terms.examples,
    accepts: () => true,
    parse: (text, before) => [...(before ?? []), conditionFrom(text, terms)],
  })
}

const MAX_NAME_LENGTH = 200

/** Prints on standard error which conditions hold, and for which things; the exit code is then 1. */
export function failOn<Thing, Result>(
  result: Result,
  conditions: readonly Condition<Thing, Result>[] | undefined,
  { things, nameOf }: Terms<Thing, Result>,
): void {
  for (const { text, holds } of conditions ?? []) {
    const failing = things(result).filter((thing) => holds(thing, result))
    if (failing.length === 0) continue
    const names = failing
      .slice(0, MAX_IN_TEXT)
      .map((thing) => shortText(nameOf(thing), MAX_NAME_LENGTH))
    const left = failing.length - names.length
    if (left > 0) names.push(`and ${grouped(left)} more`)
    process.stderr.write(
      visibleText(`flowdelta: --fail-on ${text} holds for ${names.join('; ')}\n`),
    )
    process.exitCode = 1
  }
}
