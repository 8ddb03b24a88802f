import { FlowdeltaError } from './errors.ts'
import { readDuration } from './words.ts'

/** Terms of conditions about a result, such as those of `--fail-on`. */
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
