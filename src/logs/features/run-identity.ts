import { NEARLY_UNIQUE, namesFew } from '../../traces/attribute-names.ts'
import type { LogClass } from './features.ts'

/** The values of one field, whatever messages have it, as far as they may name what wrote them. */
export interface FieldRun {
  /** Whether an instance has two values of it. */
  varies: boolean
  /** Messages that have it. */
  messages: number
  /** By instance: which value it has. */
  readonly values: number[]
  /** The first values and the last, which are of both classes. */
  readonly texts: Map<number, string>
}

/** How many of the first values are kept, and of the last. */
const KEPT_TEXTS = 3

export function newFieldRun(): FieldRun {
  return { varies: false, messages: 0, values: [], texts: new Map() }
}

/** Takes the value of a message. */
export function takeValue(run: FieldRun, value: unknown, instance: number): void {
  run.messages++
  if (run.varies) return
  const text = String(value)
  const code = hashOf(text)
  const known = run.values[instance]
  if (known === code) return
  if (known !== undefined) {
    run.varies = true
    return
  }
  run.values[instance] = code
  run.texts.set(code, text)
  if (run.texts.size <= 2 * KEPT_TEXTS) return
  const [oldest] = [...run.texts.keys()].slice(KEPT_TEXTS)
  run.texts.delete(Number(oldest))
}

interface RunIdentity {
  /** Whether most instances have a value of their own. */
  readonly isUnique: boolean
  /** Some values of each class, if no value is of both. */
  readonly byClass: Readonly<Record<LogClass, readonly string[]>> | undefined
}

/**
 * Whether a field names the instance that logged it, or its class: each instance repeats one value of it,
 * and values are of one class alone, or of too few instances to be kinds of them. Undefined otherwise.
 */
export function identityOf(
  { varies, messages, values, texts }: FieldRun,
  classOf: (instance: number) => LogClass | undefined,
): RunIdentity | undefined {
  if (varies) return undefined
  const codes = { before: new Set<number>(), after: new Set<number>() }
  let instances = 0
  values.forEach((code, instance) => {
    const logClass = classOf(instance)
    if (logClass === undefined) return
    instances++
    codes[logClass].add(code)
  })
  const { before, after } = codes
  const all = new Set([...before, ...after]).size
  if (all < 2 || messages < 2 * instances) return undefined
  const isApart = before.size > 0 && after.size > 0 && all === before.size + after.size
  if (!isApart && namesFew(all, instances)) return undefined
  const textsOf = (own: ReadonlySet<number>) =>
    Array.from(texts, ([code, text]) => (own.has(code) ? text : '')).filter(Boolean)
  const byClass = isApart ? { before: textsOf(before), after: textsOf(after) } : undefined
  return { isUnique: all > NEARLY_UNIQUE * instances, byClass }
}

/** Whether several instances have one value, all the same. */
export function isOneValue({ varies, values }: FieldRun): boolean {
  const all = Object.values(values)
  return !varies && all.length > 1 && all.every((code) => code === all[0])
}

/** FNV-1a, in 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  return hash | 0
}
