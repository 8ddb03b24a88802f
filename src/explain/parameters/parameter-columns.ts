import type { NodeLabel } from '../../flows/node-labels.ts'
import type { NodeRecord } from '../../flows/node-records.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import { isNameLike, PRESENCE } from './attribute-names.ts'
import type { Parameter } from './parameter.ts'
import { placeName } from './place-name.ts'
import { typedColumn } from './typed-column.ts'

type Values = (AttributeValue | undefined)[]

/** Collects what was recorded at some places of flows, row by row, into columns. */
export class ParameterColumns {
  readonly #rows: number
  readonly #places: readonly NodeLabel[]
  readonly #found: readonly Map<string, Values>[]

  constructor(rows: number, places: readonly NodeLabel[]) {
    this.#rows = rows
    this.#places = places
    this.#found = places.map(() => new Map<string, Values>())
  }

  add(row: number, place: number, record: NodeRecord): void {
    const attributes = this.#found[place] as Map<string, Values>
    for (const [key, value] of record) {
      let values = attributes.get(key)
      if (values === undefined) {
        values = new Array<AttributeValue | undefined>(this.#rows).fill(undefined)
        attributes.set(key, values)
      }
      values[row] = value
    }
  }

  /**
   * One column a place and attribute, in the order of places, then of names; called by service,
   * operation and attribute, places of one name counted.
   */
  finish(): Parameter[] {
    const places = this.#places.flatMap((node, place) => {
      const found = this.#found[place] as Map<string, Values>
      return found.size === 0 ? [] : [{ node, found, name: placeName(node) }]
    })
    return places.flatMap((place) => {
      const alike = places.filter(({ name }) => name === place.name)
      const occurrence = alike.length === 1 ? 0 : alike.indexOf(place) + 1
      const name = occurrence === 0 ? place.name : `${place.name}#${occurrence}`
      return [...place.found]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([attribute, values]) => {
          const column = (called: string, recorded: Values) => ({
            ...typedColumn(`${name} · ${called}`, recorded, { isName: isNameLike(attribute) }),
            source: { node: place.node, occurrence, attribute: called },
          })
          const own = column(attribute, values)
          if (!values.includes(undefined)) return [own]
          // That something was not recorded may be what requests have in common.
          const isThere = values.map((value) => (value === undefined ? 'no' : 'yes'))
          return [own, column(`${attribute}${PRESENCE}`, isThere)]
        })
    })
  }
}
