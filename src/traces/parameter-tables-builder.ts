import { AttributesBuilder, type AttributeValue } from './attributes.ts'
import { growingUint8, growingUint32 } from './growing-columns.ts'
import { nodeKey, ParameterKeys, spanKey } from './parameter-keys.ts'
import { ParameterTables } from './parameter-tables.ts'
import type { QualityLog } from './quality.ts'

/** What a row of parameters is about: a trace point or a span, alone or of a trace. */
export interface ParameterOwner {
  readonly kind: 'node' | 'span'
  readonly id: string
  readonly trace: string | undefined
}

/** Collects tables of parameters, row by row and over files, before the traces are read. */
export class ParameterTablesBuilder {
  readonly #keys = new ParameterKeys()
  readonly #attributes = new AttributesBuilder()
  readonly #files: string[] = []
  /** File and line of the first row of each key. */
  readonly #file = growingUint32()
  readonly #line = growingUint32()
  /** 1 for keys with more than one row. */
  readonly #repeated = growingUint8()
  readonly #withinTraces = { node: false, span: false }
  #owner = 0
  #rows = 0

  /** Begins a row; the parameters that follow are its own. */
  addRow({ kind, id, trace }: ParameterOwner, file: string, line: number): void {
    const keys = this.#keys
    const owner = keys.code(kind === 'node' ? nodeKey(id, trace) : spanKey(id, trace))
    if (owner < this.#line.length) this.#repeated.values[owner] = 1
    else {
      if (this.#files.at(-1) !== file) this.#files.push(file)
      this.#file.push(this.#files.length - 1)
      this.#line.push(line)
      this.#repeated.push(0)
    }
    if (trace !== undefined) this.#withinTraces[kind] = true
    this.#owner = owner
    this.#rows++
  }

  /** A parameter of the row that was begun last. */
  add(name: string, value: AttributeValue): void {
    this.#attributes.add(this.#owner, name, value)
  }

  finish(quality: QualityLog): ParameterTables {
    const { size } = this.#keys
    const position = Int32Array.from({ length: size }, (_, owner) => owner)
    return new ParameterTables(
      {
        keys: this.#keys,
        attributes: this.#attributes.finish(size, position),
        files: this.#files,
        file: this.#file.finish(),
        line: this.#line.finish(),
        repeated: this.#repeated.finish(),
        withinTraces: this.#withinTraces,
        rows: this.#rows,
      },
      quality,
    )
  }
}
