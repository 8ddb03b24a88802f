import { expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { SPAN_FORMATS } from '../../../src/traces/readers/span-formats.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { plainSpans } from '../read-traces.ts'
import { SPAN_SAMPLES, type SpanSample, START_US, TOLD } from './samples.ts'

async function load({
  text,
  columns = null,
}: Pick<SpanSample, 'text'> & { columns?: string | null }) {
  return (await loadTraces({ name: 'sample', bytes: text }, { columns })) as SpanTraces
}

test.each(SPAN_SAMPLES.map((sample) => [`${sample.format}: ${sample.title}`, sample] as const))(
  '%s has the services, operations, parents, times and errors that were written',
  async (_, sample) => {
    const has = (what: 'kind' | 'failed') => sample.lacks?.includes(what) !== true
    const set = await load(sample)
    const spans = plainSpans(set)
      .map(({ service, operation, parent, startNs, durationUs, kind, status }) => ({
        ...{ service, operation, parent, startNs, durationUs },
        ...(has('kind') ? { kind } : {}),
        ...(has('failed') ? { failed: status === 'error' } : {}),
      }))
      .sort((a, b) => Number(a.startNs - b.startNs))
    expect(spans).toEqual(
      TOLD.map((told) => ({
        service: told.service,
        operation: told.operation,
        parent:
          TOLD.find(({ trace, id }) => trace === told.trace && id === told.parent)?.operation ??
          'none',
        startNs: BigInt(START_US + told.at) * 1000n,
        durationUs: told.us,
        ...(has('kind') ? { kind: told.kind } : {}),
        ...(has('failed') ? { failed: told.failed } : {}),
      })),
    )
    expect([...set.quality().counts.keys()]).toEqual(
      sample.format === 'spans' ? ['read-by-fields'] : [],
    )
  },
)

test('every row of the table of formats has a sample', () => {
  const sampled = new Set(SPAN_SAMPLES.map(({ format }) => format))
  expect(SPAN_FORMATS.map(({ name }) => name).filter((name) => !sampled.has(name))).toEqual([])
})

const said = async (text: string) =>
  (await load({ text })).quality().issues.map(({ message }) => message)

test('an unknown layout says what its fields were taken for, and how units are known', async () => {
  const [, lines] = SPAN_SAMPLES.filter(({ format }) => format === 'spans')
  expect(await said(lines?.text ?? '')).toEqual([
    'No known format: read by the names of the fields: trace = traceId, span = spanId, parent = parentSpanId, service = app, operation = endpoint, start = begin (in s, by its size), duration = took (in ms, by its values against starts), error = failed. Option `columns` says otherwise',
  ])
})

const tableOf = (start: string, options: object) =>
  loadTraces(
    { name: 'a.csv', bytes: `t,i,p,s,o,b,d\n1,1,,web,get,${start},20\n` },
    options,
  ) as Promise<SpanTraces>
const COLUMNS = 'trace=t,span=i,parent=p,service=s,operation=o,duration=d:us,start=b'

test('times whose unit is not given are in the unit that their size says', async () => {
  const starts = ['1790848800192', '1790848800192000', '1790848800192000000', '1790848800.192']
  for (const start of starts) {
    const set = await tableOf(start, { columns: COLUMNS })
    expect(plainSpans(set)[0]?.startNs).toBe(1790848800192000000n)
  }
})

test('milliseconds that are read as nanoseconds, as somebody said, are a doubt', async () => {
  const set = await tableOf('1790848800192', { columns: `${COLUMNS}:ns` })
  expect(set.quality().issues.map(({ message }) => message)).toEqual([
    'b is read in ns, as given, but 1790848800192 looks like a time in ms. Option `columns` says otherwise (start=…:ms)',
  ])
})

test('columns that are named wrongly are refused', async () => {
  await expect(tableOf('1', { columns: 'trace=t,begin=b' })).rejects.toThrow(
    'Option columns is "trace=t,begin=b". Give parts as trace=NAME or start=NAME:ms, of trace, span,',
  )
  await expect(tableOf('1', { columns: 'trace=t,span=id,start=b' })).rejects.toThrow(
    'a.csv:1: The header line has no column id (span); it has t, i, p, s, o, b, d.',
  )
})

test('what is no trace says what it has, and the nearest format', async () => {
  await expect(load({ text: '[{"traceId":"a","id":"1","level":"info"}]' })).rejects.toThrow(
    /No spans were found\. Records have the fields traceId, id, level; none stands for the start and the end or the duration\. Nearest is zipkin, which also has localEndpoint/,
  )
})
