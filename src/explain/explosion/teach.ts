import { greatest, group, range } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import { categoryKey, categoryText } from '../../compare/categories/category-key.ts'
import {
  type Answer,
  type AnswerSide,
  IGNORABLE,
  type Ignorable,
  KNOWLEDGE_OPTIONS,
  type Knowledge,
  NO_KNOWLEDGE,
} from '../../compare/knowledge/knowledge.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { FlowdeltaError, requireList } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { combined, ExplosionVariants, listRecipes, type Variant } from './diagnose-explosion.ts'

const ALL = Object.keys(IGNORABLE) as Ignorable[]

/** A person's answer about two categories of some data. */
export interface TaughtAnswer {
  readonly one: number
  readonly other: number
  /** Whether their requests are the same to this person. */
  readonly same: boolean
  /** Author; default none. */
  readonly by?: string
  /** When, as ISO 8601; default unknown. */
  readonly at?: string
}

/** Returns what finds the smallest sets of parts that make two categories one. */
function mergesIn(categories: Categories) {
  const variants = new ExplosionVariants(categories)
  const recipes = new Map<string, Variant>(
    listRecipes(variants).recipes.map(({ remedy, ...variant }) => [remedy, variant]),
  )
  /** For each category, the one without some parts that most of its requests are in. */
  const without = memoized((ignored: string) => {
    const ignore = ignored.split(',')
    const merged = variants.categorize(combined(ignore.flatMap((what) => recipes.get(what) ?? [])))
    return range(categories.size).map((category) => {
      const members = [BEFORE, AFTER].flatMap((period) => [...categories.members(category, period)])
      const requests = group(members, (request) => merged.categoryOf[request])
      return greatest(requests, ([, { length }]) => length)?.[0] ?? 0
    })
  })
  const sets = subsets(ALL.filter((what) => recipes.has(what)))
  return (one: number, other: number) => {
    const found: Ignorable[][] = []
    for (const ignore of sets) {
      if (found.some((smaller) => smaller.every((what) => ignore.includes(what)))) continue
      const of = without(ignore.join())
      if (of[one] === of[other]) found.push(ignore)
    }
    return found
  }
}

/** Returns all sets of at least one part: smaller ones first, milder ones first among them. */
function subsets(parts: readonly Ignorable[]): Ignorable[][] {
  const all = Array.from({ length: 2 ** parts.length - 1 }, (_, i) =>
    parts.filter((_, part) => ((i + 1) >> part) & 1),
  )
  return all.sort((a, b) => a.length - b.length)
}

function sideOf(categories: Categories, category: number): AnswerSide {
  return { key: categoryKey(categories, category), name: categoryText(categories, category) }
}

/**
 * Learns from answers which requests are the same: adds the answers to the knowledge, and finds the smallest rule that
 * merges all equal requests and no others. Of equally small rules it takes the mildest: ids in names, learned order,
 * threads, repetitions, hosts, any order.
 *
 * The rule uses general terms, so it works for other data as well; `compare` applies it with the option `knowledge`.
 *
 * @param source a comparison, or categories, that the answers are about; made without the rule
 * @param answers answers about categories of `source`, by their numbers
 * @param known earlier knowledge; default none
 * @throws OptionError for something else than knowledge; FlowdeltaError for an unknown category, for requests called
 *   the same although they do different work, and if no rule respects all answers
 *
 * Source: Sambasivan 2013, §8.2.1, asks for semi-supervised categories; the rules are flowdelta's own.
 *
 * @example
 * teach(comparison, []).ignore // []
 */
export function teach(
  source: Comparison | Categories,
  answers: readonly TaughtAnswer[],
  known: Knowledge = NO_KNOWLEDGE,
): Knowledge {
  const categories = categoriesOf(source, 'teach')
  requireList('answers', answers, 'one', 'other', 'same')
  readOptions(KNOWLEDGE_OPTIONS, { knowledge: known })
  const merging = mergesIn(categories)
  const added = answers.map(({ one, other, same, by = '', at = '' }): Answer => {
    const numbers = range(categories.size)
    const unknown = [one, other].find((category) => !numbers.includes(category))
    if (unknown !== undefined) {
      throw new FlowdeltaError(
        `There is no category ${unknown}. Give numbers from 0 to ${categories.size - 1}, as \`categories.table()\` has them.`,
      )
    }
    const sides = { one: sideOf(categories, one), other: sideOf(categories, other) }
    const merges = merging(one, other)
    if (same && merges.length === 0) {
      throw new FlowdeltaError(
        `Categories ${one} and ${other} were marked as the same, but differ in more than ${ALL.map((what) => IGNORABLE[what]).join(', ')}: ` +
          'in the work they do. Keep them apart, or give `label` a rule of your own.',
      )
    }
    return { ...sides, same, merges, by, at }
  })
  const all = [...known.answers, ...added]
  return { ...known, answers: all, ignore: learn(all) }
}

function learn(answers: readonly Answer[]): readonly Ignorable[] {
  const merges = (rule: readonly Ignorable[], { merges }: Answer) =>
    merges.some((set) => set.every((what) => rule.includes(what)))
  const respects = (rule: readonly Ignorable[]) =>
    answers.every((answer) => merges(rule, answer) === answer.same)
  const rule = [[], ...subsets(ALL)].find(respects)
  if (rule !== undefined) return rule
  const told = answers.map(({ one, other, same, merges: sets }) => {
    const what = sets.map((set) => set.join(' with ')).join(' or ')
    return `${one.name} and ${other.name} are ${same ? 'the same' : 'not the same'}, and one by ${what || 'nothing'}`
  })
  throw new FlowdeltaError(
    `No rule fits all answers: ${told.join('; ')}. Take back one of the contradicting answers.`,
  )
}
