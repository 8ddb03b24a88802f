import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OptionError } from '../../../src/core/errors.ts'
import type { LogReadOptions } from '../../../src/logs/readers/log-read-options.ts'
import { readLogs } from '../../../src/logs/readers/read-logs.ts'

const JSONL = {
  name: 'a.jsonl',
  bytes: '{"time":1,"node":"x","event":"a"}\n{"time":2,"node":"x","event":"b"}\n',
}
const CSV = { name: 'a.csv', bytes: 'time,node,name\n1,x,a\n' }
const LOGFMT = { name: 'a.log', bytes: 'time=1 node=x msg=a\n' }
const OTLP = {
  name: 'a.json',
  bytes:
    '{"resourceLogs":[{"resource":{"attributes":[{"key":"host","value":{"stringValue":"x"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"a"}}]}]}]}\n',
}

describe('logs of a class that give no message are an error that says why and what to do', () => {
  const fails = (bad: { name: string; bytes: string }, options: LogReadOptions = {}) =>
    expect(readLogs({ good: CSV, bad }, options)).rejects

  test('a field that no line has', async () => {
    await expect(readLogs({ good: JSONL, bad: [] }, { instance: 'nope' })).rejects.toThrow(
      'Option good is "a.jsonl". Give logs with messages: none of 2 lines gave one; a line does not say which instance it is of (2, as in a.jsonl:1). Name in option instance a field that lines have; there are time, node, event.',
    )
    await expect(readLogs({ good: LOGFMT, bad: [] }, { instance: 'nope' })).rejects.toThrow(
      'there are time, node, msg.',
    )
    await expect(readLogs({ good: OTLP, bad: [] }, { instance: 'nope' })).rejects.toThrow(
      'there are host.',
    )
    const text = { name: 'a.txt', bytes: '2024-05-01 10:00:00 a\n' }
    await expect(readLogs({ good: text, bad: [] }, { instance: 'nope' })).rejects.toThrow(
      'Text has no fields: name in option instance a group of option template, or leave it out.',
    )
  })

  test('a format that files are not in', async () => {
    await expect(readLogs({ good: JSONL, bad: [] }, { format: 'log4j' })).rejects.toThrow(
      'a line stands before the first line with a time (2, as in a.jsonl:1). Leave option format out: by their content they are jsonl.',
    )
  })

  test('times that cannot be read', async () => {
    await fails({ name: 'b.jsonl', bytes: '{"time":"1. Mai","name":"a"}\n' }).toThrow(
      'Option bad is "b.jsonl". Give logs with messages: none of 1 line gave one; a line has no time that can be read (1, as in b.jsonl:1). Name the field of times in option fields.time, or say in option dateFormat how they are written; there are time, name.',
    )
  })

  test('an empty file', async () => {
    await fails({ name: 'b.log', bytes: '' }).toThrow(
      new OptionError('bad', 'b.log', 'logs with messages: this is empty'),
    )
  })

  test('a class that is missing', async () => {
    await expect(readLogs({ good: JSONL } as never)).rejects.toThrow('Option bad is undefined.')
  })

  test('a column that is named and not there is not another format', async () => {
    await fails(CSV, { fields: { time: 'zeit' } }).toThrow('The header line has no column zeit')
  })
})

describe('a file as good and as bad', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'flowdelta-both-'))
    writeFileSync(join(folder, 'a.jsonl'), JSONL.bytes)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('is told, also where a directory holds it', async () => {
    const file = join(folder, 'a.jsonl')
    for (const bad of [file, folder]) {
      const { report } = await readLogs({ good: file, bad })
      expect(report.inBothClasses).toEqual([file])
    }
  })

  test('content in memory may have one name twice', async () => {
    expect((await readLogs({ good: JSONL, bad: JSONL })).report.inBothClasses).toEqual([])
  })
})

describe('what other programs write', () => {
  test('a header line in capitals', async () => {
    const bytes = 'Time,Node,Event\n0,a,start\n5,a,finish\n'
    const logs = await readLogs({ good: { name: 'a.csv', bytes }, bad: [] }, { instance: 'node' })
    expect([logs.instances, logs.events.names]).toEqual([['a'], ['finish', 'start']])
  })

  test('a column in the very letters comes first', async () => {
    const bytes = 'Time,time,name\nnever,7,a\n'
    const logs = await readLogs({ good: { name: 'a.csv', bytes }, bad: [] })
    expect(logs.events.names).toEqual(['a'])
  })

  test("Python's NaN is no number; what else the line says counts", async () => {
    const bytes =
      '{"time":1,"name":"q","value":NaN,"x":-Infinity}\n{"time":2,"name":"a: NaN, \\"b","x":NaN}\n'
    const logs = await readLogs({ good: { name: 'a.jsonl', bytes }, bad: [] })
    expect(logs.events.names).toEqual(['a: NaN, "b'])
    expect(logs.states.names).toEqual([])
    expect(logs.report.skipped.map(({ reason }) => reason)).toEqual([
      'has a value that is no number',
    ])
  })

  test('a name of two lines in CSV', async () => {
    const bytes = 'time,name\n1,"a\nb"\n2,c\n'
    const logs = await readLogs({ good: { name: 'a.csv', bytes }, bad: [] })
    expect(logs.events.names).toEqual(['a\nb', 'c'])
  })
})
