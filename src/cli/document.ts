import {
  type JsonSchema,
  type OptionsOf,
  type OptionTable,
  optionsSchema,
  pickOptions,
} from '../core/options.ts'
import { flagged } from './flags.ts'
import type { PrintedWarning } from './printing.ts'

/** Part of a document: its schema, and how a value is written; both are defined once. */
export interface Part<In> {
  readonly schema: JsonSchema
  readonly optional?: boolean
  write(value: In): unknown
}

/** A field that is written from the record that it is in, not from its field of the same name. */
export interface Made<In> {
  readonly schema: JsonSchema
  readonly optional?: boolean
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

const plain = <In>(schema: JsonSchema): Part<In> => ({ schema, write: (value) => value })

export const TEXT = plain<string>({ type: 'string' })
export const FLAG = plain<boolean>({ type: 'boolean' })
export const COUNT = plain<number>({ type: 'integer', minimum: 0 })
export const RANK = plain<number>({ type: 'integer', minimum: 1 })
export const NUMBER = plain<number>({ type: 'number' })
export const SHARE = plain<number>({ type: 'number', minimum: 0, maximum: 1 })
/** A number that may be missing: JSON has neither NaN nor infinity, so they become `null`. */
export const MEASURED: Part<number> = {
  schema: { type: ['number', 'null'] },
  write: (value) => (Number.isFinite(value) ? value : null),
}

export function words(...choices: readonly string[]): Part<string> {
  return plain({ enum: choices })
}

/** Describes a list; of more than `max` items only the first are written. */
export function listOf<Item>(
  item: Part<Item>,
  max = Number.POSITIVE_INFINITY,
): Part<readonly Item[]> {
  return {
    schema: { type: 'array', items: item.schema },
    write: (items) =>
      (items.length > max ? items.slice(0, max) : items).map((each) => item.write(each)),
  }
}

export function orNull<In>(part: Part<In>): Part<In | null | undefined> {
  return {
    schema: { anyOf: [part.schema, { type: 'null' }] },
    write: (value) => (value === null || value === undefined ? null : part.write(value)),
  }
}

export function optional<In>(part: Part<In>): Part<In | undefined> {
  return {
    schema: part.schema,
    optional: true,
    write: (value) => (value === undefined ? undefined : part.write(value)),
  }
}

export function about<In>(description: string, part: Part<In>): Part<In> {
  return { ...part, schema: { description, ...part.schema } }
}

/** Describes a field that `get` takes from its record; with `description` as `about` gives it. */
export function made<In, Value>(
  get: (value: In) => Value,
  part: Part<Value>,
  description?: string,
): Made<In> {
  const { schema, optional: missing = false } =
    description === undefined ? part : about(description, part)
  return { schema, optional: missing, made: (value) => part.write(get(value)) }
}

export function record<In>(fields: Fields<In>): Part<In> {
  const parts = Object.entries(fields) as [string, Part<unknown> | Made<In>][]
  return {
    schema: {
      type: 'object',
      required: parts.flatMap(([name, { optional: missing }]) => (missing ? [] : [name])),
      properties: Object.fromEntries(parts.map(([name, { schema }]) => [name, schema])),
    },
    write: (value) => {
      const own = value as Readonly<Record<string, unknown>>
      const written: Record<string, unknown> = {}
      for (const [name, part] of parts) {
        const field = 'made' in part ? part.made(value) : part.write(own[name])
        if (field !== undefined) written[name] = field
      }
      return written
    },
  }
}

export function parameters<Table extends OptionTable>(table: Table): Part<OptionsOf<Table>> {
  const shown = flagged(table)
  return {
    schema: optionsSchema(shown),
    write: (options) => pickOptions(shown, options as OptionsOf<OptionTable>),
  }
}

export function document<In>(name: string, description: string, fields: Fields<In>): Document<In> {
  const title = `flowdelta.${name}/1`
  const { schema, write } = record<In>({
    schema: { ...made(() => title, TEXT), schema: { const: title } },
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
  return made(cut, optional(counts), 'Present when --limit left something out.')
}

export const PERIOD_COUNTS = record<{ readonly before: number; readonly after: number }>({
  before: COUNT,
  after: COUNT,
})

export const WARNINGS = listOf(
  record<PrintedWarning>({
    code: TEXT,
    message: TEXT,
    detail: about('Its effect on the results, and what to do.', optional(TEXT)),
  }),
)
