// Joins samples to every span: the loops index with `!`.

import { bisectRight, pairs, quantile } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { TraceFormatError } from '../../core/errors.ts'
import { counted } from '../../core/words.ts'
import { SERIES } from '../attribute-names.ts'
import { AttributesBuilder } from '../attributes.ts'
import type { QualityLog } from '../quality.ts'
import { SpanTraces } from '../span-traces.ts'
import { closeChunks, type OpenableSource } from '../trace-source.ts'
import { CsvRows } from './csv-rows.ts'
import { inMicros, unitBySize } from './span-times.ts'

/** Recording of a monitor, such as CPU or the length of a queue, of one host or of all of them. */
export interface Series {
  readonly name: string
  /** Names that the host may have; none for a series of all hosts. */
  readonly hosts: readonly string[]
  /** µs since 1970, ascending. */
  readonly atUs: readonly number[]
  readonly values: readonly number[]
}

/** Most wide steps of its series that a value holds for: nine of ten steps are not wider. */
const MAX_STEPS = 3
const WIDE_STEP = 0.9

/**
 * Reads monitoring series: CSV with a column `time` (ISO 8601, or a number since 1970 in s, ms, µs or
 * ns), maybe one `host`, and a column of numbers a series; or the JSON that Prometheus answers to
 * `query_range`, whose series belong to the host that one of their labels names, with or without a port.
 *
 * @throws TraceFormatError for a file that is neither
 */
export async function readSeries(
  sources: readonly OpenableSource[],
  open: (source: OpenableSource) => ReturnType<OpenableSource['open']>,
): Promise<Series[]> {
  const all: Series[] = []
  for (const source of sources) {
    const { chunks } = await open(source)
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
    } finally {
      await closeChunks(chunks)
    }
    const read = /^\uFEFF?\s*\{/.test(text) ? prometheusSeries : csvSeries
    all.push(...read(text, source.name))
  }
  return all
}

function unreadable(file: string, what: string): TraceFormatError {
  return new TraceFormatError(
    what,
    { file },
    "Give CSV with columns time, host and one a series, or Prometheus' JSON of query_range",
  )
}

type Samples = { readonly at: number; readonly value: number }[]

function seriesOf(name: string, hosts: readonly string[], samples: Samples): Series {
  const sorted = samples.filter(({ value }) => Number.isFinite(value)).sort((a, b) => a.at - b.at)
  return {
    name,
    hosts,
    atUs: sorted.map(({ at }) => at),
    values: sorted.map(({ value }) => value),
  }
}

function csvSeries(text: string, file: string): Series[] {
  let names: readonly string[] = []
  const samples = new Map<string, Samples>()
  const rows = new CsvRows(',', (fields, line) => {
    if (names.length === 0) {
      names = fields.map((name) => name.replace(/^\uFEFF/, '').trim())
      return
    }
    const column = (wanted: RegExp) => names.findIndex((name) => wanted.test(name))
    const [time, host] = [column(/^time(stamp)?$/i), column(/^(host(name)?|instance|node|pod)$/i)]
    if (time < 0) throw unreadable(file, 'A file of series has no column time')
    const at = timeUs(fields[time] ?? '')
    if (Number.isNaN(at)) {
      throw unreadable(`${file}:${line}`, `${JSON.stringify(fields[time] ?? '')} is no time`)
    }
    names.forEach((name, i) => {
      if (i === time || i === host || (fields[i] ?? '').trim() === '') return
      const key = JSON.stringify([name, fields[host] ?? ''])
      getOrInsert(samples, key, () => []).push({ at, value: Number(fields[i]) })
    })
  })
  rows.push(new TextEncoder().encode(text))
  rows.end()
  if (samples.size === 0) throw unreadable(file, 'A file of series has no values')
  return Array.from(samples, ([key, own]) => {
    const [name, host] = JSON.parse(key) as [string, string]
    return seriesOf(name, host === '' ? [] : [host], own)
  })
}

function prometheusSeries(text: string, file: string): Series[] {
  let results: unknown
  try {
    results = (JSON.parse(text) as { data?: { result?: unknown } }).data?.result
  } catch (problem) {
    throw unreadable(file, `A file of series is no JSON (${(problem as Error).message})`)
  }
  if (!Array.isArray(results) || !results.every((one) => Array.isArray(one?.values))) {
    throw unreadable(file, 'The JSON of a file of series has no data.result with values')
  }
  type Result = { metric: Record<string, string>; values: [seconds: number, value: string][] }
  return (results as Result[]).map(({ metric, values }) => {
    const { __name__: name = file.replace(/^.*\/|\.json(\.\w+)?$/g, ''), ...labels } = metric
    const hosts = Object.values(labels).flatMap((label) => [
      `${label}`,
      `${label}`.replace(/:\d+$/, ''),
    ])
    return seriesOf(
      name,
      hosts,
      values.map(([seconds, value]) => ({ at: 1e6 * seconds, value: Number(value) })),
    )
  })
}

/** Returns µs since 1970: from ISO 8601, or from a number whose size tells its unit. */
function timeUs(text: string): number {
  const count = Number(text)
  if (text.trim() === '' || Number.isNaN(count)) return 1000 * Date.parse(text)
  return count * inMicros(unitBySize(Math.abs(count)))
}

/**
 * Makes series attributes of spans, `series.NAME`, by host and time: the last value up to a span's begin, if that is
 * not older than three wide steps.
 *
 * @throws TraceFormatError where no span has a value, a name is that of an attribute, or a host has two
 */
export function withSeries(
  traces: SpanTraces,
  all: readonly Series[],
  quality: QualityLog,
): SpanTraces {
  const { spans, hosts, attributes } = traces
  const epochUs = Number(traces.epochNs / 1000n)
  const ofHost = hosts.values.map((host) => seriesOfHost(all, host))
  const taken = all.find(({ name }) => attributes.keys.find(SERIES + name) !== undefined)
  if (taken !== undefined) {
    throw new TraceFormatError(
      `The spans have an attribute ${SERIES}${taken.name} already`,
      {},
      'Rename the series',
    )
  }
  const builder = new AttributesBuilder()
  let [joined, missed] = [0, 0]
  spans.startUs.forEach((startUs, span) => {
    for (const [key, value] of attributes.entries(span)) builder.add(span, key, value)
    for (const { name, atUs, values, maxAgeUs } of ofHost[spans.host[span]!] ?? []) {
      const at = bisectRight(atUs, epochUs + startUs) - 1
      const isKnown = at >= 0 && epochUs + startUs - atUs[at]! <= maxAgeUs
      if (isKnown) builder.add(span, SERIES + name, values[at]!)
      isKnown ? joined++ : missed++
    }
  })
  if (joined === 0) {
    const known = [...new Set(all.flatMap(({ hosts: [first] }) => first ?? []))]
      .slice(0, 3)
      .join(', ')
    throw new TraceFormatError(
      `No sample of the series is of a host and a time of these traces, whose hosts are ${hosts.values.slice(0, 3).join(', ')}; series name ${known === '' ? 'no host' : known}`,
      {},
      'Give series of the hosts and the time of the traces',
    )
  }
  if (missed > 0) {
    quality.note(
      'no-sample',
      {},
      `${counted(missed, 'value')} of series are missing where spans begin`,
    )
  }
  const columns = { ...traces, attributes: builder.finish(spans.startUs.length) }
  return new SpanTraces(traces.name, columns, quality.finish(traces.size))
}

/** Returns the series of a host, by name, and those of all hosts. */
function seriesOfHost(all: readonly Series[], host: string) {
  const own = all.filter(({ hosts }) => hosts.length === 0 || hosts.includes(host))
  const repeated = own.find(({ name }, i) => own.findIndex((one) => one.name === name) < i)
  if (repeated !== undefined) {
    throw new TraceFormatError(
      `Host ${host} has more than one series ${repeated.name}`,
      {},
      'Aggregate them, as sum by (instance) does',
    )
  }
  return own.map((one) => {
    const stepsUs = pairs(one.atUs, (earlier, later) => later - earlier)
    return { ...one, maxAgeUs: MAX_STEPS * (quantile(stepsUs, WIDE_STEP) ?? Infinity) }
  })
}
