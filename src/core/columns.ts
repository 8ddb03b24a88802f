import { base64OfBytes, bytesOfBase64 } from './base64.ts'
import { FlowdeltaError, InternalError, show } from './errors.ts'

/** Arrays of numbers that columns keep their type of. */
const ARRAYS = {
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Uint8Array,
  Uint16Array,
  Uint32Array,
} as const

type ArrayName = keyof typeof ARRAYS
type NumberArray = InstanceType<(typeof ARRAYS)[ArrayName]>

/** Arrays of numbers as bytes, the smallest first that holds the values exactly. */
const STORED: readonly ArrayName[] = [
  'Uint8Array',
  'Int8Array',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'Float32Array',
]

/** Lists shorter than this are sent as they are: a tag would cost more than it saves. */
const MIN_COLUMN = 8

/** Data as plain JSON; an object with the key `$` stands for a value that JSON lacks. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export interface EncodedColumns<T> {
  readonly columns: Json
  /** Never present; remembers the type of the encoded value. */
  readonly decodesTo?: T
}

/**
 * Encodes data as compact JSON for {@link decodeColumns}: numbers (NaN, ±∞ and −0 too) as bytes of
 * the smallest exact type, repeated strings as a dictionary, booleans as bits, lists of like
 * objects as a column a key. No functions, class instances or cycles.
 */
export function encodeColumns<T>(value: T): EncodedColumns<T> {
  return { columns: encode(value) }
}

/** Decodes what {@link encodeColumns} made; throws for data in another form. */
export function decodeColumns<T>(encoded: EncodedColumns<T>): T {
  return decode(encoded.columns) as T
}

function encode(value: unknown): Json {
  switch (typeof value) {
    case 'number':
      // JSON writes and reads all others without loss.
      if (Number.isFinite(value) && !Object.is(value, -0)) return value
      return tagged('number', Object.is(value, -0) ? '-0' : String(value))
    case 'string':
    case 'boolean':
      return value
    case 'undefined':
      return tagged('undefined', null)
    case 'bigint':
      return tagged('bigint', String(value))
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return encodeList(value)
      if (isNumberArray(value)) return encodeNumbers(value, nameOf(value))
      if (isRecord(value)) {
        const fields = mapped(value, encode)
        return Object.hasOwn(value, '$') ? tagged('record', fields) : fields
      }
  }
  throw new InternalError(`columns cannot hold ${show(value)}`)
}

function encodeList(list: readonly unknown[]): Json {
  if (list.length >= MIN_COLUMN) {
    if (list.every((value) => typeof value === 'number')) {
      return tagged('numbers', encodeNumbers(Float64Array.from(list), 'Float64Array'))
    }
    if (list.every((value) => typeof value === 'string')) return encodeTexts(list)
    if (list.every((value) => typeof value === 'boolean')) {
      const bits = new Uint8Array(Math.ceil(list.length / 8))
      list.forEach((bit, i) => {
        if (bit) bits[i >> 3]! |= 1 << (i & 7)
      })
      return { $: 'flags', of: base64OfBytes(bits), length: list.length }
    }
  }
  const rows = list.length > 1 ? sameKeys(list) : undefined
  if (rows !== undefined) {
    const columns = rows.keys.map((key) => rows.records.map((record) => record[key]))
    return { $: 'rows', keys: rows.keys, of: columns.map(encodeList), length: list.length }
  }
  return Array.from(list, encode)
}

/** Returns the objects of a list, if it holds nothing else and all have the same keys in the same order. */
function sameKeys(list: readonly unknown[]) {
  const [first] = list
  if (!isRecord(first)) return undefined
  const keys = Object.keys(first)
  const same = (value: unknown): value is Record<string, unknown> => {
    if (!isRecord(value)) return false
    const own = Object.keys(value)
    return own.length === keys.length && own.every((key, i) => key === keys[i])
  }
  return list.every(same) ? { keys, records: list } : undefined
}

function encodeTexts(texts: readonly string[]): Json {
  const codes = new Map<string, number>()
  const coded = Uint32Array.from(texts, (text) => {
    const code = codes.get(text) ?? codes.size
    codes.set(text, code)
    return code
  })
  if (codes.size > texts.length / 2) return texts
  return { $: 'texts', of: [...codes.keys()], codes: encodeNumbers(coded, 'Uint32Array') }
}

function encodeNumbers(values: NumberArray, name: ArrayName): Json {
  const fits = (stored: ArrayName) => {
    const { BYTES_PER_ELEMENT } = ARRAYS[stored]
    if (BYTES_PER_ELEMENT >= values.BYTES_PER_ELEMENT) return false
    const narrow = new ARRAYS[stored](1)
    return values.every((value) => {
      narrow[0] = value
      return Object.is(narrow[0], value)
    })
  }
  const stored = STORED.find(fits) ?? nameOf(values)
  const same = stored === nameOf(values) ? values : ARRAYS[stored].from(values)
  const bytes = new Uint8Array(same.buffer, same.byteOffset, same.byteLength)
  return { $: name, of: base64OfBytes(bytes), ...(stored !== name && { stored }) }
}

function tagged(tag: string, of: Json): Json {
  return { $: tag, of }
}

function isNumberArray(value: object): value is NumberArray {
  return ArrayBuffer.isView(value) && nameOf(value) in ARRAYS
}

function nameOf(value: object): ArrayName {
  return value.constructor.name as ArrayName
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** An object with the key `$`, which stands for a value that JSON lacks. */
type Tagged = Readonly<Partial<Record<'$' | 'of' | 'keys' | 'codes' | 'length' | 'stored', Json>>>

function decode(json: Json): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map(decode)
  const { $: tag, of, keys, codes, length, stored } = json as Tagged
  if (tag === undefined) return mapped(json as Readonly<Record<string, Json>>, decode)
  switch (tag) {
    case 'number':
      return Number(of)
    case 'undefined':
      return undefined
    case 'bigint':
      return BigInt(of as string)
    case 'record':
      return mapped(of as Readonly<Record<string, Json>>, decode)
    case 'numbers':
      return Array.from(decode(of as Json) as NumberArray)
    case 'flags': {
      const bits = bytesOfBase64(of as string)
      const isSet = (i: number) => ((Number(bits[i >> 3]) >> (i & 7)) & 1) === 1
      return Array.from({ length: length as number }, (_, i) => isSet(i))
    }
    case 'texts':
      return Array.from(decode(codes as Json) as Uint32Array, (code) => (of as string[])[code])
    case 'rows': {
      const columns = (of as Json[]).map(decode) as unknown[][]
      return Array.from({ length: length as number }, (_, row) =>
        Object.fromEntries((keys as string[]).map((key, i) => [key, columns[i]?.[row]])),
      )
    }
    default:
      return decodeNumbers(tag, of, stored ?? tag)
  }
}

/** Changes a record's own fields, whatever their names: `__proto__` is a name like any other. */
function mapped<In, Out>(record: Readonly<Record<string, In>>, change: (value: In) => Out) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

function decodeNumbers(tag: Json, of: Json | undefined, stored: Json): NumberArray {
  if (!isArrayName(tag) || !isArrayName(stored) || typeof of !== 'string') {
    throw new FlowdeltaError(
      `Encoded columns hold ${show(tag)}. Encode them again with this version of flowdelta.`,
    )
  }
  const values = new ARRAYS[stored](bytesOfBase64(of).buffer)
  return stored === tag ? values : ARRAYS[tag].from(values)
}

function isArrayName(name: Json): name is ArrayName {
  return typeof name === 'string' && Object.hasOwn(ARRAYS, name)
}
