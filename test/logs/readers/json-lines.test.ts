import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FieldVariables } from '../../../src/logs/features/field-variables.ts'
import { LogBuilder } from '../../../src/logs/features/log-builder.ts'
import { LineReader } from '../../../src/logs/readers/line-reader.ts'
import { LogClock } from '../../../src/logs/readers/log-clock.ts'
import { readSettings } from '../../../src/logs/readers/log-read-options.ts'
import { LogWriter } from '../../../src/logs/readers/log-sink.ts'
import { readLines } from '../../../src/logs/readers/read-log-file.ts'
import {
  contentOf,
  eventCounts,
  finalValues,
  firstTimes,
  readText,
  skipped,
} from './log-messages.ts'

async function readChunks(text: string, size: number) {
  const builder = new LogBuilder()
  const fields = new FieldVariables(builder)
  const pathInstance = builder.instanceCode('before', 'a')
  const sink = new LogWriter({
    builder,
    fields,
    logClass: 'before',
    file: 'a.jsonl',
    pathInstance,
    matcher: undefined,
  })
  async function* chunks() {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const settings = readSettings({})
  const clock = new LogClock(settings)
  const reader = new LineReader({ sink, settings, clock, format: 'jsonl' })
  const file = { name: 'a.jsonl', chunks: chunks(), sink }
  await readLines(file, (line, number) => reader.line(line, number))
  reader.end()
  return builder.build()
}

describe('JSON lines', () => {
  test('with a value are states, without events', async () => {
    const logs = await readText(
      '{"time":10,"name":"start"}\n{"time":30,"name":"queue","value":-2.5}\n{"name":"stop","time":40,"value":null}\n',
    )
    expect(firstTimes(logs)).toEqual({ start: [0], stop: [30] })
    expect(finalValues(logs)).toEqual({ queue: [-2.5] })
    expect(logs.report.lines).toBe(3)
  })

  test('may have other fields, objects, escapes, CRLF and a byte order mark', async () => {
    const logs = await readText(
      '\uFEFF{"ts":"2020-01-01T00:00:00Z","event":"a \\"b\\" \\u00e9","more":{"x":[1]}}\r\n\r\n{"level":"info","ok":true,"ts":"2020-01-01T00:00:01Z","event":"é","no":null}',
    )
    expect(firstTimes(logs)).toEqual({ 'a "b" é': [0], é: [1e6] })
    expect(skipped(logs)).toEqual({})
  })

  test('take the first of the known fields, in whatever order they stand', async () => {
    const logs = await readText(
      '{"ts":7,"name":"b","time":3,"event":"a"}\n{"time":5,"event":"z"}\n',
    )
    expect(firstTimes(logs)).toEqual({ a: [0], z: [2] })
  })

  test('have the fields that option fields names, also within objects', async () => {
    const logs = await readText(
      '{"at":1,"what":{"kind":"x"},"ms":4,"kb":"7"}\n{"at":2,"what":{"kind":"x"},"ms":5}\n',
      { fields: { time: 'at', name: 'what.kind', value: 'ms' } },
    )
    expect(finalValues(logs)).toEqual({ x: [5], 'x.kb': [7] })
  })

  test('that cannot be used are counted, with file and line', async () => {
    const logs = await readText(
      [
        '{"time":1,"name":"a"}',
        '{"time":1,"name":"a"',
        '[1]',
        '{"name":"a"}',
        '{"time":"soon","name":"a"}',
        '{"time":2}',
        '{"time":2,"name":{}}',
        '{"time":2,"name":"a","value":"many"}',
        '{"time":2,"name":"a","value":true}',
        '{"time":2,"name":"a"} {}',
        '{"time":4,"name":"a",}',
        '{"time":3,"name":"a","value":"8"}',
      ].join('\n'),
    )
    expect(skipped(logs)).toEqual({
      'is not in the format of its file': [4, 'a.log:2'],
      'has no time that can be read': [2, 'a.log:4'],
      'has no name': [2, 'a.log:6'],
      'has a value that is no number': [2, 'a.log:8'],
    })
    expect(eventCounts(logs)).toEqual({ a: [1] })
    expect(finalValues(logs)).toEqual({ a: [8] })
    expect(logs.report.lines).toBe(12)
  })

  test('say which instance they are of', async () => {
    const logs = await readText(
      '{"time":5,"name":"a","request":"r1"}\n{"time":6,"name":"a","request":2}\n{"time":9,"name":"b","request":"r1"}\n{"time":9,"name":"b"}\n',
      { instance: 'request' },
    )
    expect(logs.instances).toEqual(['r1', '2'])
    expect(firstTimes(logs)).toEqual({ a: [0, 0], b: [4, Number.NaN] })
    expect(skipped(logs)).toEqual({ 'does not say which instance it is of': [1, 'a.log:4'] })
  })

  test('longer than 16 MB are passed over and counted once', async () => {
    const logs = await readChunks(
      `{"time":1,"name":"a"}\n{"time":2,"name":"${'x'.repeat(40 << 20)}"}\n{"time":3,"name":"b"}\n`,
      1 << 20,
    )
    expect(skipped(logs)).toEqual({ 'is longer than 16 MB': [1, 'a.jsonl:2'] })
    expect(firstTimes(logs)).toEqual({ a: [0], b: [2] })
    expect(logs.report.lines).toBe(3)
  })

  test('are read the same in chunks of any size', async () => {
    const text =
      '{"time":1,"name":"é","value":1}\n\n{"time": 2, "name" : "b"}\r\n{"time":3,"name":"\\u0061"}\nnonsense\n{"time":4,"name":"c"}'
    const whole = await readChunks(text, 1 << 20)
    for (const size of [1, 2, 7, 30]) {
      const logs = await readChunks(text, size)
      expect(contentOf(logs)).toEqual(contentOf(whole))
      expect(skipped(logs)).toEqual(skipped(whole))
    }
  })

  test('hold the numbers that JSON.parse reads', async () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }),
      fc.tuple(fc.integer(), fc.nat()).map(([a, b]) => `${a}.${b}`),
    )
    await fc.assert(
      fc.asyncProperty(number, async (value) => {
        const logs = await readChunks(`{"time":1,"name":"v","value":${value}}\n`, 1 << 20)
        expect(logs.states.of(0, 'final')[0]).toBe(JSON.parse(String(value)))
      }),
      { numRuns: 300, seed: 1 },
    )
  })
})
