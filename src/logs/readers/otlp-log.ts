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
import { type LogFile, type LogSink, SKIPPED } from './log-sink.ts'

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
  const log = new OtlpLog(sink, settings, clock)
  const elements = new JsonElements({
    ...{ file, quality, lost: 'span skipped', cutAt: CUT_AT },
    onElement: ({ value, line }) => log.read(value, line),
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
}

class OtlpLog {
  readonly #sink: LogSink
  readonly #settings: ReadSettings
  readonly #clock: LogClock
  #line = 1
  #service = ''

  constructor(sink: LogSink, settings: ReadSettings, clock: LogClock) {
    this.#sink = sink
    this.#settings = settings
    this.#clock = clock
  }

  read(element: object, line: number): void {
    this.#line = line
    // Pieces of a list of exports are lists themselves.
    const exports = Array.isArray(element) ? objectsIn(element) : [element]
    for (const one of exports as Fields<'resourceLogs'>[]) {
      if (!Array.isArray(one.resourceLogs)) {
        this.#sink.skip(SKIPPED.broken, line, JSON.stringify(one).slice(0, 200))
      }
      for (const resource of objectsIn(one.resourceLogs)) this.#resource(resource)
    }
  }

  #resource({ resource, scopeLogs }: Fields<'resource' | 'scopeLogs'>): void {
    const attributes = isJsonObject(resource) ? (resource as Fields<'attributes'>).attributes : []
    this.#service = otlpText(attributes, 'service.name')
    const { instance } = this.#settings
    const ofResource = instance === undefined ? '' : otlpText(attributes, instance)
    for (const { logRecords } of objectsIn(scopeLogs) as Fields<'logRecords'>[]) {
      for (const record of objectsIn(logRecords)) this.#record(record, ofResource)
    }
  }

  #record(record: JsonObject, ofResource: string): void {
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
      this.#sink.skip(SKIPPED.noName, this.#line, JSON.stringify(record))
      return
    }
    const { instance } = this.#settings
    const isText = event === ''
    const service = this.#service
    this.#sink.record({
      ...{ line: this.#line, isText, component: service },
      name: isText || service === '' ? name : `${service}: ${name}`,
      timeUs: nanos === undefined ? Number.NaN : this.#clock.nanos(nanos),
      instance:
        (instance === undefined ? '' : otlpText(attributes, instance) || ofResource) || undefined,
      numbers: entries.flatMap(([key, value]) =>
        typeof value === 'number' && key !== instance ? [[key, value] as const] : [],
      ),
    })
  }
}
