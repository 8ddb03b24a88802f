import { type AttributeColumns, Attributes } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { GraphTraces } from './graph-traces.ts'
import { Quality } from './quality.ts'
import { type ShapeColumns, ShapeTable } from './shape-table.ts'
import { SpanTraces } from './span-traces.ts'
import type { TraceSet } from './trace-set.ts'

/** The columns of a trace set without its classes, as they pass between threads. */
export type PackedTraces = PackedSpans | PackedGraphs

/** Columns in which dictionaries, shapes and attributes are plain as well. */
type Packed<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends Dictionary
    ? string[]
    : Columns[Name] extends ShapeTable
      ? ShapeColumns
      : Columns[Name] extends Attributes | null
        ? Packed<AttributeColumns> | (null extends Columns[Name] ? null : never)
        : Columns[Name]
}

interface PackedPeriod {
  readonly name: string
  readonly quality: ConstructorParameters<typeof Quality>[0]
}

interface PackedSpans extends PackedPeriod {
  readonly kind: 'spans'
  readonly columns: Packed<ConstructorParameters<typeof SpanTraces>[1]>
}

interface PackedGraphs extends PackedPeriod {
  readonly kind: 'graphs'
  readonly columns: Packed<ConstructorParameters<typeof GraphTraces>[1]>
}

/** Takes the classes off a trace set; its arrays are used, not copied. */
export function packTraces(traces: TraceSet): PackedTraces {
  const { name } = traces
  const { issues, counts, traces: loaded, skippedTraces } = traces.quality()
  const period = { name, quality: { issues, counts, traces: loaded, skippedTraces } }
  if (traces instanceof SpanTraces) {
    const { epochNs, ids, spanOffsets, spans, services, operations, hosts, attributes } = traces
    const { weight, versions } = traces
    return {
      ...period,
      kind: 'spans',
      columns: {
        ...{ epochNs, ids, spanOffsets, spans, weight, versions },
        services: services.values,
        operations: operations.values,
        hosts: hosts.values,
        attributes: packAttributes(attributes),
      },
    }
  }
  const { ids, startUs, responseTimeUs, shapes, labels, shapeOf, latencyUs } = traces
  const { latencyOffsets, attributes } = traces
  return {
    ...period,
    kind: 'graphs',
    columns: {
      ...{ ids, startUs, responseTimeUs, labels, shapeOf, latencyUs, latencyOffsets },
      shapes: shapes.columns(),
      attributes: attributes && packAttributes(attributes),
    },
  }
}

/** Gives a trace set its classes back. */
export function unpackTraces({ kind, name, quality, columns }: PackedTraces): TraceSet {
  if (kind === 'graphs') {
    const { shapes, attributes } = columns
    return new GraphTraces(
      name,
      {
        ...columns,
        shapes: new ShapeTable(shapes),
        attributes: attributes && unpackAttributes(attributes),
      },
      new Quality(quality),
    )
  }
  const { services, operations, hosts, attributes } = columns
  return new SpanTraces(
    name,
    {
      ...columns,
      services: new Dictionary(services),
      operations: new Dictionary(operations),
      hosts: new Dictionary(hosts),
      attributes: unpackAttributes(attributes),
    },
    new Quality(quality),
  )
}

function packAttributes({ columns }: Attributes): Packed<AttributeColumns> {
  return { ...columns, keys: columns.keys.values, texts: columns.texts.values }
}

function unpackAttributes(columns: Packed<AttributeColumns>): Attributes {
  const { keys, texts } = columns
  return new Attributes({
    ...columns,
    keys: new Dictionary(keys),
    texts: new Dictionary(texts),
  })
}

/** The memory of all arrays within, which may be handed to another thread; each once. */
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
