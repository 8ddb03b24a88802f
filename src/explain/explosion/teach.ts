import { greatest, group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { categoriesOf } from '../../compare/categories/categorize.ts'
import { categoryKey, categoryText } from '../../compare/categories/category-key.ts'
import type { Comparison } from '../../compare/comparison.ts'
import {
  type Answer,
  type AnswerSide,
  IGNORABLE,
  type Ignorable,
  KNOWLEDGE_OPTIONS,
  type Knowledge,
  NO_KNOWLEDGE,
} from '../../compare/knowledge/knowledge.ts'
import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, requireList } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
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

/** Categories of some data, and the categories that result from ignoring some differences. */
class Alternatives {
  readonly categories: Categories
  readonly known: readonly Ignorable[]
  readonly #variants: ExplosionVariants
  readonly #recipes: ReadonlyMap<Ignorable, Variant>
  readonly #made = new Map<string, { categories: Categories; of: Uint32Array }>()

  constructor(categories: Categories) {
    this.categories = categories
    this.#variants = new ExplosionVariants(categories)
    const { recipes } = listRecipes(this.#variants)
    const isOne = (name: string): name is Ignorable => Object.hasOwn(IGNORABLE, name)
    this.#recipes = new Map(
      recipes.flatMap(({ remedy, ...variant }) => (isOne(remedy) ? [[remedy, variant]] : [])),
    )
    this.known = ALL.filter((what) => this.#recipes.has(what))
  }

  /** Categories without some parts, and which of them most requests of each category are in. */
  without(ignore: readonly Ignorable[]) {
    return getOrInsert(this.#made, ignore.join(), () => this.#make(ignore))
  }

  #make(ignore: readonly Ignorable[]) {
    const recipes = ignore.flatMap((what) => this.#recipes.get(what) ?? [])
    const categories = this.#variants.categorize(combined(recipes))
    const of = Uint32Array.from({ length: this.categories.size }, (_, category) => {
      const requests = group(
        membersOf(this.categories, category),
        (request) => categories.categoryOf[request],
      )
      return greatest(requests, ([, { length }]) => length)?.[0] ?? 0
    })
    return { categories, of }
  }

  /** Returns the smallest sets of parts that make two categories one. */
  merging(one: number, other: number): Ignorable[][] {
    const found: Ignorable[][] = []
    for (const ignore of subsets(this.known)) {
      if (found.some((smaller) => smaller.every((what) => ignore.includes(what)))) continue
      const { of } = this.without(ignore)
      if (of[one] === of[other]) found.push(ignore)
    }
    return found
  }
}

function membersOf(categories: Categories, category: number): number[] {
  return [BEFORE, AFTER].flatMap((period) => [...categories.members(category, period)])
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
  const alternatives = new Alternatives(categories)
  const added = answers.map(({ one, other, same, by = '', at = '' }): Answer => {
    for (const category of [one, other]) requireCategory(categories, category)
    const sides = { one: sideOf(categories, one), other: sideOf(categories, other) }
    const merges = alternatives.merging(one, other)
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

function requireCategory({ size }: Categories, category: number): void {
  if (Number.isInteger(category) && category >= 0 && category < size) return
  throw new FlowdeltaError(
    `There is no category ${category}. Give numbers from 0 to ${size - 1}, as \`categories.table()\` has them.`,
  )
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
