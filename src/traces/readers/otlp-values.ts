import { bytesOfBase64, hexOf } from '../../core/base64.ts'
import { VERSION_ATTRIBUTE } from '../attributes.ts'
import {
  type AttributeEntry,
  attributeOf,
  eventEntries,
  isJsonObject,
  type JsonObject,
  objectsIn,
  textOf,
} from './json-values.ts'

/** Resource attributes that name a host, the best first. */
const HOST_ATTRIBUTES = ['host.name', 'k8s.node.name']

/** Resource attributes that name an instance of a service, the best first. */
export const INSTANCE_KEYS = ['k8s.pod.name', 'service.instance.id', 'container.name']

/** Attributes of resources that say where a service runs; of those of one list, the first there is. */
const PLACES = [
  INSTANCE_KEYS,
  ['cloud.availability_zone'],
  ['cloud.region'],
  ['k8s.cluster.name'],
  ['deployment.environment.name', 'deployment.environment'],
]

const BASE64 = /^[0-9A-Za-z+/_-]+$/
const HEX = /^[0-9a-f]+$/i

/** Returns an OTLP id in lower-case hex; of base64, as general converters write it, too. */
export function otlpId(value: unknown, size: 8 | 16): string {
  if (typeof value !== 'string') return ''
  if (value.length === size * 2) return value.toLowerCase()
  const digits = value.replace(/={1,2}$/, '')
  if (digits.length === Math.ceil((size * 4) / 3) && BASE64.test(digits) && !HEX.test(value)) {
    return hexOf(bytesOfBase64(digits.replaceAll('-', '+').replaceAll('_', '/')))
  }
  return value
}

/** Name of the status description in exports to other formats. */
export const STATUS_DESCRIPTION = 'otel.status_description'

export function otlpAttributes(list: unknown): AttributeEntry[] {
  const entries: AttributeEntry[] = []
  for (const { key, value } of objectsIn(list)) {
    if (typeof key !== 'string') continue
    const plain = otlpValue(value)
    if (plain !== undefined && plain !== null) entries.push([key, attributeOf(plain)])
  }
  return entries
}

/** Returns the events of a span as attributes of it. */
export function otlpEvents(list: unknown): AttributeEntry[] {
  return objectsIn(list).flatMap(({ name, attributes }) =>
    eventEntries(textOf(name), otlpAttributes(attributes)),
  )
}

export function otlpText(list: unknown, key: string): string {
  const value = otlpValue(objectsIn(list).find(({ key: own }) => own === key)?.['value'])
  return value === undefined || value === null ? '' : String(attributeOf(value))
}

/** Returns an OTLP AnyValue as a plain value. 64-bit integers that a double cannot hold stay text. */
export function otlpValue(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  for (const field in value) {
    const content = value[field]
    switch (field) {
      case 'stringValue':
      case 'string_value':
      case 'boolValue':
      case 'bool_value':
      case 'bytesValue':
      case 'bytes_value':
        return content
      case 'intValue':
      case 'int_value':
      case 'doubleValue':
      case 'double_value':
        return numeric(content)
      case 'arrayValue':
      case 'array_value':
        return listed(content).map(otlpValue)
      case 'kvlistValue':
      case 'kvlist_value':
        return Object.fromEntries(
          listed(content).map(({ key, value }) => [textOf(key), otlpValue(value)]),
        )
    }
  }
  return undefined
}

function listed(content: unknown): readonly JsonObject[] {
  return isJsonObject(content) ? objectsIn(content['values']) : []
}

function numeric(content: unknown): unknown {
  if (typeof content !== 'string' || content === '') return content
  const value = Number(content)
  if (Number.isNaN(value)) return content
  return /^-?\d+$/.test(content) && !Number.isSafeInteger(value) ? content : value
}

/** Facts that a resource, or a process, gives for all its spans. */
export interface Reporter {
  readonly service: string
  readonly host: string
  readonly version: string
  readonly attributes: readonly AttributeEntry[]
}

/** Reads what a resource or process says of its spans: its place, or with `keep` all of it. */
export function reporterOf(
  entries: readonly AttributeEntry[],
  {
    service,
    hostKeys = HOST_ATTRIBUTES,
    keep = false,
  }: {
    readonly service?: string
    readonly hostKeys?: readonly string[]
    readonly keep?: boolean | undefined
  } = {},
): Reporter {
  // The first of several entries with one key counts.
  const texts = new Map(entries.toReversed().map(([key, value]) => [key, String(value)]))
  const textOf = (key: string) => texts.get(key) ?? ''
  const firstOf = (keys: readonly string[]) => keys.find((key) => textOf(key) !== '') ?? ''
  const hostKey = firstOf(hostKeys)
  const inColumns = ['service.name', 'host.name', hostKey]
  const places = PLACES.map(firstOf)
  return {
    service: service ?? textOf('service.name'),
    host: textOf(hostKey),
    version: textOf(VERSION_ATTRIBUTE),
    attributes: entries
      .filter(([key]) => !inColumns.includes(key) && (keep || places.includes(key)))
      .map(([key, value]) => [`resource.${key}`, value]),
  }
}
