import { group, sum } from 'd3-array'
import { columnarStage, own, rowTable, type StageTable } from '../core/stage.ts'
import { counted } from '../core/words.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import type { Categories } from './categories/categories.ts'
import { categoriesOf } from './categories/categorize.ts'
import type { Comparison } from './comparison.ts'
import { namesOf, withoutNames } from './knowledge/names.ts'
import { type Subject, subjectsIn } from './subjects.ts'

/** Something that a person could name. */
export interface NameableThing {
  /** Id in a knowledge file. */
  readonly about: string
  /** Recorded name, to begin with. */
  readonly what: string
  /** Given name; empty if it has none yet. */
  readonly name: string
  /** Categories that have it, and their requests of both periods. */
  readonly categories: number
  readonly requests: number
  readonly calls: number
}

interface Nameables {
  readonly things: readonly NameableThing[]
}

const MAX_TOLD = 8

/** Things to name: services, steps, and parts that several categories share. */
export class Nameable extends columnarStage<Nameables>() {
  /** Returns one row per thing, those whose name would shorten the output most first. */
  table(): StageTable {
    return rowTable(this.things, own('about what name categories requests calls'))
  }

  /** Returns the first few of each kind, in words. */
  text(): string {
    const kinds = group(this.things, ({ about }) => about.split(/[:-]/)[0])
    return Array.from(kinds, ([, things]) =>
      things.slice(0, MAX_TOLD).map(({ about, what, name, requests, categories }) => {
        const called = name === '' ? '' : `, called ${name}`
        return `  ${about}  ${what}${called} (${counted(requests, 'request')}, ${counted(categories, 'category', 'categories')})`
      }),
    )
      .flat()
      .join('\n')
  }
}

/**
 * Lists what people could name: services, steps, and calls that several categories share, in any order and number. A
 * name goes into `knowledge.names`, and is then shown beside the recorded one; categories are known by the names of
 * their parts.
 *
 * @param source a comparison, or a stage of `categorize`, also of one period
 *
 * Source: Sambasivan 2013, §8.2.2.
 *
 * @example
 * proposeNames(comparison).things.length
 */
export function proposeNames(source: Comparison | Categories): Nameable {
  const categories = categoriesOf(source, 'proposeNames')
  const { knowledge } = categories.options
  const names = new Map(namesOf(knowledge).map(({ about, name }) => [about, name]))
  const requestsOf = (category: number) =>
    categories.count(category, BEFORE) + categories.count(category, AFTER)
  const things = ['service', 'step', 'part'].flatMap((kind) =>
    [...subjectsIn(categories)(kind).values()]
      .filter((subject) => kind !== 'part' || isRepeated(subject))
      .map(({ about, what, calls, categories: ids }) => ({
        about,
        what: withoutNames(what, knowledge),
        name: names.get(about) ?? '',
        categories: ids.size,
        requests: sum([...ids], requestsOf),
        calls,
      })),
  )
  return new Nameable({
    things: things.sort((a, b) => b.requests * b.calls - a.requests * a.calls),
  })
}

/** Whether several categories have a part of several calls, and not always within the same larger one. */
function isRepeated({ calls, categories, within }: Subject): boolean {
  return calls > 1 && categories.size > 1 && (within.size > 1 || within.has(null))
}
