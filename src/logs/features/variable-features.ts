import { InternalError } from '../../errors.ts'
import type { Feature } from './feature-types.ts'

/** The features of all variables of one kind: a number a feature, variable and instance. */
export class VariableFeatures<F extends Feature = Feature> {
  /** Names of the variables, ascending. */
  readonly names: readonly string[]
  readonly types: readonly F[]
  /** How many instances there are. */
  readonly instances: number
  readonly #columns: ReadonlyMap<Feature, Float64Array>

  constructor(names: readonly string[], instances: number, columns: ReadonlyMap<F, Float64Array>) {
    for (const [type, values] of columns) {
      if (values.length === names.length * instances) continue
      throw new InternalError(`${values.length} values of ${type} for ${names.length} variables`)
    }
    this.names = names
    this.types = [...columns.keys()]
    this.instances = instances
    this.#columns = columns
  }

  /** One feature of all variables: that of variable v in instance i at `v * instances + i`. */
  values(type: F): Float64Array {
    const values = this.#columns.get(type)
    if (values === undefined) throw new RangeError(`There is no feature ${type} of this kind.`)
    return values
  }

  /** One feature of one variable, a number an instance; a view, not a copy. */
  of(variable: number, type: F): Float64Array {
    const from = variable * this.instances
    return this.values(type).subarray(from, from + this.instances)
  }

  /** The number of the variable called `name`; undefined where there is none. */
  indexOf(name: string): number | undefined {
    const index = this.names.indexOf(name)
    return index < 0 ? undefined : index
  }
}
