type NumericArray = Float64Array | Uint32Array | Int32Array | Uint8Array

/** Returns the values at some rows; `from` of a typed array takes ten times as long. */
export function gather<A extends NumericArray>(from: A, rows: ArrayLike<number>): A {
  const into = new (from.constructor as new (length: number) => A)(rows.length)
  for (let i = 0; i < into.length; i++) into[i] = from[rows[i]!]!
  return into
}

/** A typed array that grows; `finish()` gives the column, cut to its length. */
export class GrowingColumn<A extends NumericArray> {
  #values: A
  readonly #allocate: (length: number) => A
  length = 0

  /** @param values initial values, which are used, not copied */
  constructor(allocate: (length: number) => A, values?: A) {
    this.#allocate = allocate
    this.#values = values ?? allocate(1024)
    this.length = values?.length ?? 0
  }

  get values(): A {
    return this.#values
  }

  push(value: number): void {
    if (this.length === this.#values.length) this.reserve(1)
    this.#values[this.length++] = value
  }

  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.#values.length) return
    const larger = this.#allocate(Math.max(needed, 1024, 2 * this.#values.length))
    larger.set(this.#values)
    this.#values = larger
  }

  append(source: ArrayLike<number>, count = source.length): void {
    this.reserve(count)
    const values = this.#values
    let at = this.length
    for (let i = 0; i < count; i++) values[at++] = source[i]!
    this.length = at
  }

  finish(): A {
    return this.#values.slice(0, this.length) as A
  }

  /** Works as `finish`, but releases the storage, so that a large column does not exist twice. */
  take(): A {
    const column = this.finish()
    this.#values = this.#allocate(0)
    this.length = 0
    return column
  }
}

const GROWING = {
  f64: () => new GrowingColumn((length) => new Float64Array(length)),
  u32: (values?: Uint32Array) => new GrowingColumn((length) => new Uint32Array(length), values),
  i32: () => new GrowingColumn((length) => new Int32Array(length)),
  u8: () => new GrowingColumn((length) => new Uint8Array(length)),
} as const

export const growingFloat64 = GROWING.f64
export const growingUint32 = GROWING.u32
export const growingInt32 = GROWING.i32
export const growingUint8 = GROWING.u8
export type GrowingUint32 = GrowingColumn<Uint32Array>

type ColumnTypes = Readonly<Record<string, keyof typeof GROWING>>

type GrowingColumns<Types extends ColumnTypes> = {
  readonly [Name in keyof Types]: ReturnType<(typeof GROWING)[Types[Name]]>
}

type FinishedColumns<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends GrowingColumn<infer A> ? A : never
}

/** Returns empty columns that grow, by name and type: `growingColumns({ durationUs: 'f64' })`. */
export function growingColumns<const Types extends ColumnTypes>(
  types: Types,
): GrowingColumns<Types> {
  const columns = Object.entries(types).map(([name, type]) => [name, GROWING[type]()])
  return Object.fromEntries(columns) as GrowingColumns<Types>
}

/** Returns the finished columns, one after the other, so that none is in memory twice for long. */
export function finishColumns<
  Columns extends Readonly<Record<string, GrowingColumn<NumericArray>>>,
>(columns: Columns): FinishedColumns<Columns> {
  const finished = Object.entries(columns).map(([name, column]) => [name, column.take()])
  return Object.fromEntries(finished) as FinishedColumns<Columns>
}

export function gatherColumns<
  Columns extends Readonly<Record<string, GrowingColumn<NumericArray>>>,
>(columns: Columns, rows: Uint32Array): FinishedColumns<Columns> {
  const gathered = Object.entries(columns).map(([name, column]) => [
    name,
    gather(column.values, rows),
  ])
  return Object.fromEntries(gathered) as FinishedColumns<Columns>
}
