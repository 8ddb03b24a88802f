import { FlowdeltaError, visibleText } from '../core/errors.ts'
import { custom, type OptionRow } from '../core/options.ts'
import { grouped, readDuration, shortText } from '../core/words.ts'
import { MAX_IN_TEXT } from './printing.ts'

/** Terms of the conditions of a command, such as `--fail-on`, about its result. */
export interface Terms<Thing, Result> {
  /** A condition holds for each of these that meets all of its parts. */
  readonly things: (result: Result) => readonly Thing[]
  readonly nameOf: (thing: Thing) => string
  readonly words: Readonly<Record<string, (thing: Thing) => boolean>>
  /** Quantities to compare with a limit in per cent, and in µs; NaN exceeds nothing. */
  readonly quantities: Readonly<
    Record<string, Partial<Record<'percent' | 'us', (thing: Thing, result: Result) => number>>>
  >
  /** Conditions to give instead of one that cannot be read. */
  readonly examples: string
}

export interface Condition<Thing, Result> {
  readonly text: string
  readonly holds: (thing: Thing, result: Result) => boolean
}

/** Reads `any`, `shift>10ms`, or several of these joined by `and`. */
export function conditionFrom<Thing, Result>(
  text: string,
  terms: Terms<Thing, Result>,
): Condition<Thing, Result> {
  const parts = text.split(/\sand\s/).map((part) => partFrom(part.trim(), terms))
  return { text, holds: (thing, result) => parts.every((part) => part(thing, result)) }
}

function partFrom<Thing, Result>(
  text: string,
  { words, quantities, examples }: Terms<Thing, Result>,
): Condition<Thing, Result>['holds'] {
  if (Object.hasOwn(words, text)) return words[text] as (thing: Thing) => boolean
  const [, name = '', digits = '', unit = ''] =
    /^([a-z-]+)\s*>\s*(\d+(?:\.\d+)?)\s*(%|[a-zµμ]+)$/.exec(text) ?? []
  const quantity = Object.hasOwn(quantities, name) ? quantities[name] : undefined
  const of = quantity?.[unit === '%' ? 'percent' : 'us']
  const limit = unit === '%' ? Number(digits) : readDuration(`${digits}${unit}`)
  if (of === undefined || Number.isNaN(limit))
    throw new FlowdeltaError(`Give ${examples}.`, {}, 'option')
  return (thing, result) => of(thing, result) > limit
}

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
