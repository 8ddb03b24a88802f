import { custom } from '../core/options.ts'
import { type Quantity, TIME } from '../core/quantity.ts'

/** A span, for a measure of one's own. */
export interface MeasuredSpan {
  readonly service: string
  readonly operation: string
  readonly host: string
  readonly durationUs: number
  /** Returns the value of an attribute; `undefined` where it has none. */
  readonly attribute: (name: string) => number | string | boolean | undefined
}

/** Custom measure: the amount of a span by itself, without its calls. */
export interface OwnMeasure extends Quantity {
  readonly unit: string
  /** Returns an amount, 0 or more; `undefined` where a span does not say. */
  readonly of: (span: MeasuredSpan) => number | undefined
}

/** Quantity that requests are compared by: `'time'`, `'calls'`, an attribute, or a custom measure. */
export type Measure = string | OwnMeasure

/** `'db.rows in rows'`: a name and a unit. */
const NAMED = /^\s*(\S.*?)(?:\s+in\s+(\S.*?))?\s*$/
const OWN_UNIT =
  /[^./]*(?:tokens|bytes|rows|records|messages|items|calls|requests|pages|hits|misses)$/
/** Attributes that OpenTelemetry says are in bytes. */
const IN_BYTES = /^(?:http|rpc|messaging)\..*size$/

export const MEASURE = custom<Measure>({
  default: 'time',
  flag: 'measure <name>',
  accepts: (value) =>
    (typeof value === 'string' && value.trim() !== '') ||
    (typeof value === 'object' &&
      value !== null &&
      'unit' in value &&
      typeof value.unit === 'string'),
  expected:
    "'time', 'calls', a numeric attribute of spans, with a unit if need be ('db.rows in rows'), or { name, unit, of: (span) => … }",
  schema: { anyOf: [{ type: 'string' }, { type: 'object' }] },
  sentence:
    "Quantity to compare: time, calls, or a numeric attribute such as 'gen_ai.usage.input_tokens', summed over the spans of a request",
})

/** Returns the name and unit of a measure: the unit is given after `in`, ends the name, or is the name. */
export function quantityOf(measure: Measure): Quantity {
  if (typeof measure !== 'string') return { name: measure.name, unit: measure.unit }
  if (measure === TIME.name) return TIME
  const [, name = measure, unit] = NAMED.exec(measure) ?? []
  if (unit !== undefined) return { name, unit }
  const own = OWN_UNIT.exec(name)?.[0].replace(/[_-]/g, ' ')
  return { name, unit: own ?? (IN_BYTES.test(name) ? 'bytes' : name) }
}
