import { QualityLog } from '../../traces/quality.ts'
import { JsonElements } from '../../traces/readers/json-elements.ts'
import {
  type Fields,
  isJsonObject,
  type JsonObject,
  objectsIn,
  textOf,
} from '../../traces/readers/json-values.ts'
import { otlpAttributes, otlpText } from '../../traces/readers/otlp-values.ts'
import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'

const CUT_AT = ['resourceLogs', 'scopeLogs', 'logRecords', '']

/**
 * Reads logs in OTLP JSON: one object, several, or JSON lines, as the OpenTelemetry collector's file
 * exporter writes them. The name is `service: event name`, or service and template of the body;
 * attributes that are numbers are state variables.
 */
export async function readOtlpLog(
  { name: file, chunks, sink }: LogFile,
  settings: ReadSettings,
  clock: LogClock,
): Promise<void> {
  const quality = new QualityLog()
  const elements = new JsonElements({
    ...{ file, quality, lost: 'span skipped', cutAt: CUT_AT },
    onElement: ({ value, line }) => readExports(value, line),
  })
  let lines = 0
  for await (const chunk of chunks) {
    elements.push(chunk)
    for (const byte of chunk) if (byte === 10) lines++
  }
  elements.end()
  const { issues } = quality.finish(0)
  for (const { place, message } of issues) sink.skip(SKIPPED.broken, place.line ?? 0, message)
  sink.countLines(lines)

  function readExports(element: object, line: number): void {
    // Pieces of a list of exports are lists themselves.
    const exports = Array.isArray(element) ? objectsIn(element) : [element]
    for (const one of exports as Fields<'resourceLogs'>[]) {
      if (!Array.isArray(one.resourceLogs)) {
        sink.skip(SKIPPED.broken, line, JSON.stringify(one).slice(0, 200))
      }
      const resources = objectsIn(one.resourceLogs) as Fields<'resource' | 'scopeLogs'>[]
      for (const { resource, scopeLogs } of resources) {
        const { attributes = [] } = isJsonObject(resource) ? (resource as Fields<'attributes'>) : {}
        const scopes = objectsIn(scopeLogs) as Fields<'logRecords'>[]
        for (const record of scopes.flatMap(({ logRecords }) => objectsIn(logRecords))) {
          readRecord(record, attributes, line)
        }
      }
    }
  }

  function readRecord(record: JsonObject, ofResource: unknown, line: number): void {
    const { instance } = settings
    const service = otlpText(ofResource, 'service.name')
    const { timeUnixNano, observedTimeUnixNano, eventName, body, attributes } = record as Fields<
      'timeUnixNano' | 'observedTimeUnixNano' | 'eventName' | 'body' | 'attributes'
    >
    const entries = otlpAttributes(attributes)
    const event = textOf(eventName) || otlpText(attributes, 'event.name')
    const [, bodyValue] = otlpAttributes([{ key: 'body', value: body }])[0] ?? []
    const name = event || String(bodyValue ?? '')
    // A time of 0 means that it is not known.
    const nanos = [timeUnixNano, observedTimeUnixNano].map(textOf).find((text) => Number(text) > 0)
    if (name === '') {
      sink.skip(SKIPPED.noName, line, JSON.stringify(record))
      return
    }
    const isText = event === ''
    const instanceOf = (of: unknown) => (instance === undefined ? '' : otlpText(of, instance))
    sink.record({
      ...{ line, isText, component: service },
      name: isText || service === '' ? name : `${service}: ${name}`,
      timeUs: nanos === undefined ? Number.NaN : clock.nanos(nanos),
      instance: instanceOf(attributes) || instanceOf(ofResource) || undefined,
      numbers: entries.flatMap(([key, value]) =>
        typeof value === 'number' && key !== instance ? [[key, value] as const] : [],
      ),
    })
  }
}
