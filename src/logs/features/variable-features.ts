// Features are copied once a variable, feature and test: the loops index with `!`.
import { InternalError } from '../../core/errors.ts'
import type { Feature } from './feature-types.ts'

/** The features of one variable where it was logged: an entry an instance. */
export interface VariableEntries<F extends Feature = Feature> {
  /** Ascending. */
  readonly instances: Int32Array
  /** One feature, beside `instances`. */
  readonly values: (type: F) => Float64Array
}

/** Which instances variables were logged in. */
export interface EntryPlaces {
  /** The entries of variable v are those from `starts[v]` to before `starts[v + 1]`. */
  readonly starts: Int32Array
  /** An entry each, ascending within a variable. */
  readonly instances: Int32Array
}

/**
 * The features of all variables of one kind. Only instances in which a variable was logged take
 * memory: there may be a hundred thousand names, most of them in a single instance.
 */
export class VariableFeatures<F extends Feature = Feature> {
  /** Names of the variables, ascending. */
  readonly names: readonly string[]
  readonly types: readonly F[]
  /** How many instances there are. */
  readonly instances: number
  readonly #places: EntryPlaces
  readonly #columns: ReadonlyMap<Feature, Float64Array>
  #indexes: ReadonlyMap<string, number> | undefined

  /**
   * @param columns by feature, an entry each
   * @param places of the entries; without them columns have one for every variable and instance:
   *   that of variable v in instance i at `v * instances + i`
   */
  constructor(
    names: readonly string[],
    instances: number,
    columns: ReadonlyMap<F, Float64Array>,
    places: EntryPlaces = everywhere(names.length, instances),
  ) {
    const entries = places.instances.length
    for (const [type, values] of columns) {
      if (values.length === entries) continue
      throw new InternalError(`${values.length} values of ${type} for ${entries} entries`)
    }
    this.names = names
    this.types = [...columns.keys()]
    this.instances = instances
    this.#places = places
    this.#columns = columns
  }

  /**
   * One feature of all variables in all instances: that of variable v in instance i at
   * `v * instances + i`. Made when asked for; see `of` and `entries` for one variable.
   */
  values(type: F): Float64Array {
    const all = new Float64Array(this.names.length * this.instances)
    for (const variable of this.names.keys()) {
      all.set(this.of(variable, type), variable * this.instances)
    }
    return all
  }

  /**
   * One feature of one variable, a number an instance: where it was not logged NaN, and 0 of the
   * number of messages.
   */
  of(variable: number, type: F): Float64Array {
    const found = new Float64Array(this.instances)
    this.copy(variable, type, found)
    return found
  }

  /** As `of`, into an array that is there: for those who go through all variables. */
  copy(variable: number, type: F, target: Float64Array): void {
    const { starts, instances } = this.#places
    const values = this.#column(type)
    const end = starts[variable + 1]!
    target.fill(valueWithout(type))
    for (let at = starts[variable]!; at < end; at++) target[instances[at]!] = values[at]!
  }

  /** One variable, only where it was logged; views, no copies. */
  entries(variable: number): VariableEntries<F> {
    const { starts, instances } = this.#places
    const [start, end] = [starts[variable], starts[variable + 1]]
    return {
      instances: instances.subarray(start, end),
      values: (type) => this.#column(type).subarray(start, end),
    }
  }

  /** The number of the variable called `name`; undefined where there is none. */
  indexOf(name: string): number | undefined {
    this.#indexes ??= new Map(this.names.map((each, index) => [each, index]))
    return this.#indexes.get(name)
  }

  #column(type: F): Float64Array {
    const values = this.#columns.get(type)
    if (values === undefined) throw new RangeError(`There is no feature ${type} of this kind.`)
    return values
  }
}

/** What a feature is in an instance without a message. */
function valueWithout(type: Feature): number {
  return type === 'count' ? 0 : Number.NaN
}

function everywhere(variables: number, instances: number): EntryPlaces {
  return {
    starts: Int32Array.from({ length: variables + 1 }, (_, variable) => variable * instances),
    instances: Int32Array.from({ length: variables * instances }, (_, at) => at % instances),
  }
}
