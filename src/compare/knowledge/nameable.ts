import { group, sum } from 'd3-array'
import { columnarStage, rowTable, type StageTable } from '../../core/stage.ts'
import { grouped } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { categoriesOf } from '../categories/categorize.ts'
import type { Comparison } from '../comparison.ts'
import { listed, operationName } from '../findings/names.ts'
import { namesOf, serviceKey, stepKey, withoutNames } from './names.ts'
import { type Part, partsOf } from './parts.ts'

/** Something that a person could name. */
export interface NameableThing {
  /** What it is known by in a knowledge file. */
  readonly about: string
  /** What it is in the terms of the traces: a name to begin with. */
  readonly what: string
  /** What it is called; the empty string for nothing yet. */
  readonly name: string
  /** Categories that have it, and their requests of both periods. */
  readonly categories: number
  readonly requests: number
  /** Calls in it. */
  readonly calls: number
}

interface Nameables {
  readonly things: readonly NameableThing[]
}

const MAX_TOLD = 8

/** What could be named: services, steps, and parts that several categories have. */
export class Nameable extends columnarStage<Nameables>() {
  /** One row a thing, what a name would spare most reading of first. */
  table(): StageTable {
    return rowTable(this.things, ['about', 'what', 'name', 'categories', 'requests', 'calls'])
  }

  /** The first few of each kind, in words. */
  text(): string {
    const kinds = group(this.things, ({ about }) => about.split(/[:-]/)[0])
    return Array.from(kinds, ([, things]) =>
      things.slice(0, MAX_TOLD).map(({ about, what, name, requests, categories }) => {
        const called = name === '' ? '' : `, called ${name}`
        return `  ${about}  ${what}${called} (${grouped(requests)} requests, ${grouped(categories)} categories)`
      }),
    )
      .flat()
      .join('\n')
  }
}

/**
 * Lists what people could name: services, steps, and calls that several categories make alike, in
 * whatever order and however often. A name goes into `knowledge.names`, and is then shown beside what
 * was recorded; categories are told by the names of their parts.
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
  const { flows, options } = categories
  const found = new Map<string, { thing: Thing; in: Set<number>; within: Set<string | null> }>()
  const add = (thing: Thing, category: number, within: string | null = null) => {
    const known = found.get(thing.about) ?? { thing, in: new Set(), within: new Set() }
    found.set(thing.about, known)
    known.in.add(category)
    known.within.add(within)
  }
  const recorded = (text: string) => withoutNames(text, options.knowledge)
  for (let category = 0; category < categories.size; category++) {
    for (const code of new Set(flows.shapes.labels(categories.outline(category).shape))) {
      const { service: shown, operation: does } = flows.labels.get(code)
      const [service, operation] = [recorded(shown), recorded(does)]
      if (service !== '') add({ about: serviceKey(service), what: service, calls: 1 }, category)
      add({ about: stepKey({ service, operation }), what: operation, calls: 1 }, category)
    }
    const parts = partsOf(categories, category)
    for (const part of parts.filter(({ calls }) => calls > 1)) {
      const { key: about, calls, within } = part
      add({ about, what: partText(part, parts), calls }, category, within)
    }
  }
  const names = new Map(namesOf(options.knowledge).map(({ about, name }) => [about, name]))
  const requestsOf = (category: number) =>
    categories.count(category, BEFORE) + categories.count(category, AFTER)
  const things = [...found.values()]
    .filter(({ thing, ...where }) => !thing.about.startsWith('part-') || isRepeated(where))
    .map(({ thing, in: ids }) => ({
      ...thing,
      name: names.get(thing.about) ?? '',
      categories: ids.size,
      requests: sum([...ids], requestsOf),
    }))
  return new Nameable({
    things: things.sort((a, b) => b.requests * b.calls - a.requests * a.calls),
  })
}

type Thing = Pick<NameableThing, 'about' | 'what' | 'calls'>

/** Whether several categories have a part, and not always within the same larger one. */
function isRepeated(where: { in: ReadonlySet<number>; within: ReadonlySet<string | null> }) {
  return where.in.size > 1 && (where.within.size > 1 || where.within.has(null))
}

function partText(part: Part, parts: readonly Part[]): string {
  const own = operationName(part.node)
  const called = new Set<string>()
  let level = part.children
  while (level.length > 0) {
    const calls = level.map((call) => parts[call] as Part)
    for (const { node } of calls) called.add(operationName(node))
    level = calls.flatMap(({ children }) => children)
  }
  // A client and its server often have one name.
  called.delete(own)
  return called.size === 0 ? own : `${own} with ${listed([...called], 3)}`
}
