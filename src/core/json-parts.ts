import {
  flagged,
  type JsonSchema,
  type OptionsOf,
  type OptionTable,
  optionsSchema,
  pickOptions,
} from './options.ts'

/** Part of a document: its schema, and how a value is written; both are defined once. */
export class Part<In> {
  readonly schema: JsonSchema
  readonly write: (value: In) => unknown
  readonly isOptional: boolean

  constructor(schema: JsonSchema, write: (value: In) => unknown, isOptional = false) {
    this.schema = schema
    this.write = write
    this.isOptional = isOptional
  }

  about(description: string): Part<In> {
    return new Part({ description, ...this.schema }, this.write, this.isOptional)
  }

  /** Describes a field that `get` takes from its record, not from the record's field of the same name. */
  from<Record>(get: (record: Record) => In, description?: string): Made<Record> {
    const { schema, isOptional } = description === undefined ? this : this.about(description)
    return { schema, isOptional, made: (value) => this.write(get(value)) }
  }
}

/** A field that is written from the record that it is in. */
export interface Made<In> {
  readonly schema: JsonSchema
  readonly isOptional: boolean
  made(value: In): unknown
}

export type Each<Items> = Items extends readonly (infer Item)[] ? Item : never

type Fields<In> = { readonly [Name in keyof In]?: Part<In[Name]> | Made<In> } & {
  readonly [name: string]: Part<never> | Made<In>
}

export interface Document<In> {
  readonly schema: JsonSchema
  write(value: In): Readonly<Record<string, unknown>>
}

/** Describes a value that is written as it is. */
export function plain<In>(schema: JsonSchema): Part<In> {
  return new Part(schema, (value) => value)
}

export const TEXT = plain<string>({ type: 'string' })
export const FLAG = plain<boolean>({ type: 'boolean' })
export const COUNT = plain<number>({ type: 'integer', minimum: 0 })
export const RANK = plain<number>({ type: 'integer', minimum: 1 })
export const NUMBER = plain<number>({ type: 'number' })
export const SHARE = plain<number>({ type: 'number', minimum: 0, maximum: 1 })
/** A number that may be missing: JSON has neither NaN nor infinity, so they become `null`. */
export const MEASURED = new Part<number>({ type: ['number', 'null'] }, (value) =>
  Number.isFinite(value) ? value : null,
)

export function words(...choices: readonly string[]): Part<string> {
  return plain({ enum: choices })
}

/** Describes a list; of more than `max` items only the first are written. */
export function listOf<Item>(
  item: Part<Item>,
  max = Number.POSITIVE_INFINITY,
): Part<readonly Item[]> {
  return new Part({ type: 'array', items: item.schema }, (items) =>
    (items.length > max ? items.slice(0, max) : items).map((each) => item.write(each)),
  )
}

export function orNull<In>({ schema, write }: Part<In>): Part<In | null | undefined> {
  return new Part({ anyOf: [schema, { type: 'null' }] }, (value) =>
    value === null || value === undefined ? null : write(value),
  )
}

export function optional<In>({ schema, write }: Part<In>): Part<In | undefined> {
  return new Part(schema, (value) => (value === undefined ? undefined : write(value)), true)
}

export function record<In>(fields: Fields<In>): Part<In> {
  const parts = Object.entries(fields) as [string, Part<unknown> | Made<In>][]
  const schema = {
    type: 'object',
    required: parts.flatMap(([name, { isOptional }]) => (isOptional ? [] : [name])),
    properties: Object.fromEntries(parts.map(([name, part]) => [name, part.schema])),
  }
  return new Part(schema, (value) => {
    const own = value as Readonly<Record<string, unknown>>
    const written: Record<string, unknown> = {}
    for (const [name, part] of parts) {
      const field = 'made' in part ? part.made(value) : part.write(own[name])
      if (field !== undefined) written[name] = field
    }
    return written
  })
}

export function document<In>(name: string, description: string, fields: Fields<In>): Document<In> {
  const title = `flowdelta.${name}/1`
  const { schema, write } = record<In>({
    schema: { ...TEXT.from(() => title), schema: { const: title } },
    ...fields,
  } as Fields<In>)
  return {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:flowdelta:${name}:1`,
      title,
      description: `${description} Times are microseconds; what cannot be computed is null.`,
      ...schema,
    },
    write: (value) => write(value) as Readonly<Record<string, unknown>>,
  }
}

export function parameters<Table extends OptionTable>(table: Table): Part<OptionsOf<Table>> {
  const shown = flagged(table)
  return new Part(optionsSchema(shown), (options) =>
    pickOptions(shown, options as OptionsOf<OptionTable>),
  )
}

/** Adds the number of items of a list that is cut at `max`, if there are more. */
export function countBeyond<In>(max: number, countOf: (value: In) => number): Made<In> {
  return optional(COUNT).from((value) => (countOf(value) > max ? countOf(value) : undefined))
}

/** Adds the number of things if `--limit` left some of them out. */
export function truncated<In>(
  things: string,
  get: (value: In) => { readonly all: number; readonly limit: number },
): Made<In> {
  const counts = record<Readonly<Record<string, number>>>({ [things]: COUNT })
  const cut = (value: In) => {
    const { all, limit } = get(value)
    return all > limit ? { [things]: all } : undefined
  }
  return optional(counts).from(cut, 'Present when --limit left something out.')
}

export const PERIOD_COUNTS = record({ before: COUNT, after: COUNT })
