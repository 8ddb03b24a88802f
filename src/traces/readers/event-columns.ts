import { type Attributes, AttributesBuilder, type AttributeValue } from '../attributes.ts'
import { Dictionary } from '../dictionary.ts'
import { EpochClock } from '../epoch-clock.ts'
import { growingFloat64, growingUint8, growingUint32 } from '../growing-columns.ts'

/** `FatherColumns.group` of an edge that makes its child a root. */
export const NO_FATHER = 0xffffffff

/** Events in columns, in the order of their rows. */
export class EventColumns {
  /** The clocks of all hosts as one: offsets of events of different hosts have nothing in common. */
  readonly clock = new EpochClock()
  readonly traces = new Dictionary()
  readonly operations = new Dictionary()
  readonly services = new Dictionary()
  readonly hosts = new Dictionary()
  readonly group = growingUint32()
  readonly operation = growingUint32()
  readonly service = growingUint32()
  readonly host = growingUint32()
  readonly status = growingUint8()
  readonly startUs = growingFloat64()
  readonly endUs = growingFloat64()
  /** To the nanosecond, which starts and ends days from the first are not. */
  readonly durationUs = growingFloat64()
  readonly line = growingUint32()
  /** Host by address. */
  readonly hostByAddress = new Map<string, string>()
  /** The trace of each group. */
  readonly traceOfGroup = growingUint32()
  readonly #groups = new Dictionary()
  readonly #attributes = new AttributesBuilder()

  get size(): number {
    return this.group.length
  }

  get groupCount(): number {
    return this.#groups.size
  }

  /** The group of this name in this trace, which is added if it is new. */
  groupCode(traceId: string, name: string): number {
    const code = this.#groups.code(`${traceId}\n${name}`)
    if (code === this.traceOfGroup.length) this.traceOfGroup.push(this.traces.code(traceId))
    return code
  }

  /** What the files call a group. */
  groupName(code: number): string {
    const name = this.#groups.value(code)
    return name.slice(name.indexOf('\n') + 1)
  }

  traceId(group: number): string {
    return this.traces.value(this.traceOfGroup.values[group] as number)
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

/** Edges in columns: the first father of each group. */
export class FatherColumns {
  /** By group: the father's group, `NO_FATHER`, or undefined where no edge leads to the group. */
  readonly group: number[] = []
  /** By group: when the father began, by its own clock; `NaN` for the first event of its group. */
  readonly startUs: number[] = []
  /** By group: line of the edge. */
  readonly line: number[] = []

  hasEdge(child: number): boolean {
    return this.group[child] !== undefined
  }

  /** Keeps an edge; `false` for a second one to the same group. */
  add(
    child: number,
    father: number,
    { startUs, line }: { startUs: number; line: number },
  ): boolean {
    if (this.hasEdge(child)) return false
    this.group[child] = father
    this.startUs[child] = startUs
    this.line[child] = line
    return true
  }
}
