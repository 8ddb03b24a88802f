import { printable } from '../../core/words.ts'
import type { AttributeValue } from '../attributes.ts'

export type JsonObject = { readonly [key: string]: unknown }

/** A JSON object of which only these fields matter, whatever they hold. */
export type Fields<Name extends string> = { readonly [name in Name]?: unknown }

export type AttributeEntry = readonly [key: string, value: AttributeValue]

/** Types of attributes that are kept as text, by the letter that stands for each. */
export const ATTRIBUTE_TYPES: Readonly<Record<string, (text: string) => AttributeValue>> = {
  n: Number,
  s: (text) => text,
  b: (text) => text === 'true',
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A double cannot hold nanoseconds since 1970: times written as numbers are read as text. */
const NUMERIC_NANOS = /((?:UnixNano|_unix_nano)"\s*:\s*)(\d+)/g

export function withNanosAsText(json: string): string {
  return json.replace(NUMERIC_NANOS, '$1"$2"')
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return []
  return value.every(isJsonObject) ? value : value.filter(isJsonObject)
}

/** Returns a string as it is, a number as its digits, anything else as the empty string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

export function numberOf(value: unknown): number {
  const text = textOf(value)
  return text === '' ? Number.NaN : Number(text)
}

/** Returns a low-level parameter from any JSON value: arrays and objects become JSON text. */
export function attributeOf(value: unknown): AttributeValue {
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value)
}

export function numberOrText(text: string): number | string {
  const value = Number(text)
  return text !== '' && String(value) === text ? value : text
}

/** Attributes that an event becomes: `event · attribute` each, else its name; not its time. */
export function eventEntries(
  name: string,
  attributes: readonly AttributeEntry[],
): readonly AttributeEntry[] {
  if (attributes.length === 0) return name === '' ? [] : [['event', name]]
  const prefix = name === '' ? 'event' : name
  return attributes.map(([key, value]) => [`${prefix} · ${key}`, value])
}

const TRACE_KEY =
  /"(resourceSpans|resource_spans|scopeSpans|scope_spans|instrumentationLibrarySpans|batches|traceID|spanID|processes|traceId|localEndpoint)"\s*:/

/** Returns the first key by which formats are distinguished: names further in may be anybody's. */
export function firstTraceKey(head: string): string | undefined {
  return /^[\s\uFEFF]*[[{]/.test(head) ? TRACE_KEY.exec(head)?.[1] : undefined
}

/** Code of the note about an error that a server answered instead of traces. */
export const SERVER_ERROR = 'server-error'

/** Returns a server's error in its own words: `{"message": …}`, or all of it. */
export function saidBy(error: JsonObject): string {
  const { message, msg, error: inner } = error
  return printable(textOf(message) || textOf(msg) || textOf(inner) || JSON.stringify(error))
}
