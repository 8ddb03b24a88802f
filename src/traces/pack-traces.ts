import { type AttributeColumns, Attributes } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { GraphTraces } from './graph-traces.ts'
import { Quality } from './quality.ts'
import { type ShapeColumns, ShapeTable } from './shape-table.ts'
import { SpanTraces } from './span-traces.ts'
import type { TraceSet } from './trace-set.ts'

/** Object as it passes between threads: the name of its class, and its content. */
export interface PackedTraces {
  readonly class: keyof typeof WHOLES
  readonly parts: unknown
}

export function packTraces(traces: TraceSet): PackedTraces {
  return pack(traces) as PackedTraces
}

export function unpackTraces(packed: PackedTraces): TraceSet {
  return unpack(packed) as TraceSet
}

function pack(value: unknown): unknown {
  const packed = (name: PackedTraces['class'], parts: unknown) => ({
    class: name,
    parts: pack(parts),
  })
  if (value instanceof Dictionary) return packed('dictionary', value.values)
  if (value instanceof ShapeTable) return packed('shapes', value.columns())
  if (value instanceof Attributes) return packed('attributes', value.columns)
  if (value instanceof Quality) return packed('quality', { ...value })
  if (value instanceof SpanTraces || value instanceof GraphTraces) {
    const { name, kind } = value
    return packed(kind, { name, columns: { ...value }, quality: value.quality() })
  }
  return isPlain(value) ? eachPart(value, pack) : value
}

function unpack(value: unknown): unknown {
  if (!isPlain(value)) return value
  const whole = eachPart(value, unpack) as Partial<PackedTraces>
  return whole.class === undefined ? whole : WHOLES[whole.class](whole.parts as never)
}

type Parts<Traces extends typeof SpanTraces | typeof GraphTraces> = {
  readonly name: string
  readonly columns: ConstructorParameters<Traces>[1]
  readonly quality: Quality
}

const WHOLES = {
  dictionary: (values: string[]) => new Dictionary(values),
  shapes: (columns: ShapeColumns) => new ShapeTable(columns),
  attributes: (columns: AttributeColumns) => new Attributes(columns),
  quality: (counts: ConstructorParameters<typeof Quality>[0]) => new Quality(counts),
  spans: (of: Parts<typeof SpanTraces>) => new SpanTraces(of.name, of.columns, of.quality),
  graphs: (of: Parts<typeof GraphTraces>) => new GraphTraces(of.name, of.columns, of.quality),
}

function eachPart(value: object, change: (part: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part)]))
}

/** Returns the memory of all arrays within, which may be handed to another thread; each once. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer)
  } else if (isPlain(value)) {
    for (const each of Object.values(value)) buffersOf(each, found)
  }
  return found
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor === Object
}
