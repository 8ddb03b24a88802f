import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { custom, defineOptions, type JsonSchema } from '../../core/options.ts'

/** Differences that a rule may ignore when it decides whether requests are the same, the mildest first. */
export const IGNORABLE = {
  'strip ids': 'ids in the names of services and operations',
  'learned order': 'the order of calls that run at the same time',
  'omit threads': 'threads',
  'fold loops': 'how often something is repeated, within a power of two',
  'omit hosts': 'hosts',
  'no order': 'the order of calls of one caller',
} as const

/** Name of a remedy of `diagnoseExplosion` that a rule can consist of. */
export type Ignorable = keyof typeof IGNORABLE

/** One of two kinds of request that an answer is about. */
export interface AnswerSide {
  /** Fingerprint of its steps, without hosts and ids. */
  readonly key: string
  /** Root of its requests, and their number of steps. */
  readonly name: string
}

/** A person's answer about two kinds of request. */
export interface Answer {
  readonly one: AnswerSide
  readonly other: AnswerSide
  /** Whether they are the same to this person. */
  readonly same: boolean
  /** Smallest sets of ignored differences, each of which puts both requests into one category. */
  readonly merges: readonly (readonly Ignorable[])[]
  readonly by: string
  /** When, as ISO 8601. */
  readonly at: string
}

/** Knowledge of people, independent of any data: it holds no trace, host, version or time. */
export interface Knowledge {
  readonly schema: typeof KNOWLEDGE_SCHEMA
  readonly answers: readonly Answer[]
  /** Differences that requests of one category may have, learned from the answers. */
  readonly ignore: readonly Ignorable[]
}

export const KNOWLEDGE_SCHEMA = 'flowdelta.knowledge/1'

export const NO_KNOWLEDGE: Knowledge = { schema: KNOWLEDGE_SCHEMA, answers: [], ignore: [] }

/**
 * Reads knowledge from the text of a knowledge file, which is JSON; `JSON.stringify` writes it.
 *
 * @param text content of the file
 * @param name name of the file in messages
 * @throws FlowdeltaError for text that is no JSON, or no knowledge: says which value stands where
 *
 * @example
 * const empty = '{"schema":"flowdelta.knowledge/1","answers":[],"ignore":[]}'
 * readKnowledge(empty).answers.length // 0
 */
export function readKnowledge(text: string, name = 'The knowledge'): Knowledge {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (problem) {
    throw new FlowdeltaError(
      `${name} is no JSON (${(problem as Error).message}). Give a file that \`flowdelta teach\` wrote.`,
    )
  }
  const wrong = mismatch(value, KNOWLEDGE, 'knowledge')
  if (wrong !== null) throw new OptionError(wrong.at, wrong.value, wrong.expected)
  return value as Knowledge
}

const IGNORED: Form = { each: { oneOf: Object.keys(IGNORABLE) } }
const SIDE: Form = { fields: { key: 'text', name: 'text' } }
const SAID = { by: 'text', at: 'text' } as const
const KNOWLEDGE: Form = {
  fields: {
    schema: { oneOf: [KNOWLEDGE_SCHEMA] },
    answers: {
      each: {
        fields: {
          one: SIDE,
          other: SIDE,
          same: { oneOf: [true, false] },
          merges: { each: IGNORED },
          ...SAID,
        },
      },
    },
    ignore: IGNORED,
  },
}

export const KNOWLEDGE_OPTIONS = defineOptions({
  knowledge: custom<Knowledge | null>({
    default: null,
    flag: 'knowledge <file>',
    sentence:
      'Answers and the rule from `flowdelta teach`; the rule overrides the options that it replaces',
    expected: `what readKnowledge gives (schema '${KNOWLEDGE_SCHEMA}'), or null`,
    isFile: true,
    accepts: (value) => value === null || mismatch(value, KNOWLEDGE, 'knowledge') === null,
    parse: (text) => readKnowledge(text),
    schema: { anyOf: [schemaOf(KNOWLEDGE), { type: 'null' }] },
  }),
})

/** Form of a value: a text, one of some values, a list, or an object with these fields. */
type Form =
  | 'text'
  | { readonly oneOf: readonly unknown[] }
  | { readonly each: Form }
  | { readonly fields: Readonly<Record<string, Form>> }

interface Mismatch {
  readonly at: string
  readonly value: unknown
  readonly expected: string
}

function mismatch(value: unknown, form: Form, at: string): Mismatch | null {
  if (form === 'text') {
    return typeof value === 'string' ? null : { at, value, expected: 'a text' }
  }
  if ('oneOf' in form) {
    const expected = `one of ${form.oneOf.map((one) => JSON.stringify(one)).join(', ')}`
    return form.oneOf.includes(value) ? null : { at, value, expected }
  }
  if ('each' in form) {
    if (!Array.isArray(value)) return { at, value, expected: 'a list' }
    return first(value.map((one, i) => mismatch(one, form.each, `${at}[${i}]`)))
  }
  if (typeof value !== 'object' || value === null) return { at, value, expected: 'an object' }
  const fields = value as Readonly<Record<string, unknown>>
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(form.fields, name))
  if (unknown !== undefined) {
    const expected = `only the fields ${Object.keys(form.fields).join(', ')}`
    return { at: `${at}.${unknown}`, value: fields[unknown], expected }
  }
  return first(
    Object.entries(form.fields).map(([name, one]) => mismatch(fields[name], one, `${at}.${name}`)),
  )
}

function first(found: readonly (Mismatch | null)[]): Mismatch | null {
  return found.find((one) => one !== null) ?? null
}

function schemaOf(form: Form): JsonSchema {
  if (form === 'text') return { type: 'string' }
  if ('oneOf' in form) return { enum: form.oneOf }
  if ('each' in form) return { type: 'array', items: schemaOf(form.each) }
  const fields = Object.entries(form.fields)
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, one]) => [name, schemaOf(one)])),
    required: Object.keys(form.fields),
    additionalProperties: false,
  }
}
