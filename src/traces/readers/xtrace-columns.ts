import { type Attributes, AttributesBuilder, type AttributeValue } from '../attributes.ts'
import { Dictionary } from '../dictionary.ts'
import { EpochClock } from '../epoch-clock.ts'
import { growingFloat64, growingUint32 } from '../growing-columns.ts'

/** X-Trace events in columns, in the order of their reports. */
export class XtraceColumns {
  readonly clock = new EpochClock()
  readonly tasks = new Dictionary()
  /** Operation ids: those of events and those that edges name. */
  readonly operations = new Dictionary()
  readonly hosts = new Dictionary()
  readonly labels = new Dictionary()
  readonly task = growingUint32()
  readonly operation = growingUint32()
  readonly host = growingUint32()
  readonly label = growingUint32()
  readonly timeUs = growingFloat64()
  /** Line on which the report begins. */
  readonly line = growingUint32()
  /** Fathers of event `i`, as operations, are entries `edgeOffsets[i]` to `edgeOffsets[i + 1]`. */
  readonly father = growingUint32()
  readonly edgeOffsets = growingUint32()
  readonly #attributes = new AttributesBuilder()

  constructor() {
    this.edgeOffsets.push(0)
  }

  get size(): number {
    return this.task.length
  }

  /** A parameter of the event that will be added next. */
  addAttribute(key: string, value: AttributeValue): void {
    this.#attributes.add(this.size, key, value)
  }

  finishAttributes(): Attributes {
    return this.#attributes.finish(
      this.size,
      Int32Array.from({ length: this.size }, (_, i) => i),
    )
  }
}
