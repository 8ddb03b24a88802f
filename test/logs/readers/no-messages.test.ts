import { describe, expect, test } from 'vitest'
import { OptionError } from '../../../src/core/errors.ts'
import { loadLogs } from '../../../src/logs/readers/load-logs.ts'
import type { LogReadOptions } from '../../../src/logs/readers/log-read-options.ts'

const JSONL = {
  name: 'a.jsonl',
  bytes: '{"time":1,"node":"x","event":"a"}\n{"time":2,"node":"x","event":"b"}\n',
}
const CSV = { name: 'a.csv', bytes: 'time,node,name\n1,x,a\n' }

describe('logs of a class that give no message are an error that says why and what to do', () => {
  const fails = (after: { name: string; bytes: string }, options: LogReadOptions = {}) =>
    expect(loadLogs({ before: CSV, after }, options)).rejects

  test('a field that no line has', async () => {
    await expect(loadLogs({ before: JSONL, after: [] }, { instance: 'nope' })).rejects.toThrow(
      'Option before is "a.jsonl". Give logs with messages: a line does not say which instance it is of (2, as in a.jsonl:1). Name a field that lines have with `instance`.',
    )
  })

  test('a format that files are not in', async () => {
    const log = { name: 'a.log', bytes: 'started\nstopped\n' }
    await expect(loadLogs({ before: log, after: [] }, { format: 'log4j' })).rejects.toThrow(
      'a line stands before the first line with a time (2, as in a.log:1). Say how times are written with `dateFormat`.',
    )
  })

  test('times that cannot be read', async () => {
    await fails({ name: 'b.jsonl', bytes: '{"time":"1. Mai","name":"a"}\n' }).toThrow(
      'Option after is "b.jsonl". Give logs with messages: a line has no time that can be read (1, as in b.jsonl:1). Name the field of times with `fields.time`, or say how they are written with `dateFormat`.',
    )
  })

  test('an empty file', async () => {
    await fails({ name: 'b.log', bytes: '' }).toThrow(
      new OptionError('after', 'b.log', 'logs with messages: these have none'),
    )
  })

  test('a class that is missing', async () => {
    await expect(loadLogs({ before: JSONL } as never)).rejects.toThrow('Option after is undefined.')
  })

  test('a column that is named and not there is not another format', async () => {
    await fails(CSV, { fields: { time: 'zeit' } }).toThrow('a line has no time that can be read')
  })
})

describe('what other programs write', () => {
  test('a header line in capitals', async () => {
    const bytes = 'Time,Node,Event\n0,a,start\n5,a,finish\n'
    const logs = await loadLogs(
      { before: { name: 'a.csv', bytes }, after: [] },
      { instance: 'node' },
    )
    expect([logs.instances, logs.events.names]).toEqual([['a'], ['finish', 'start']])
  })

  test('a column in the very letters comes first', async () => {
    const bytes = 'Time,time,name\nnever,7,a\n'
    const logs = await loadLogs({ before: { name: 'a.csv', bytes }, after: [] })
    expect(logs.events.names).toEqual(['a'])
  })

  test("Python's NaN is no number; what else the line says counts", async () => {
    const bytes =
      '{"time":1,"name":"q","value":NaN,"x":-Infinity}\n{"time":2,"name":"a: NaN, \\"b","x":NaN}\n'
    const logs = await loadLogs({ before: { name: 'a.jsonl', bytes }, after: [] })
    expect(logs.events.names).toEqual(['a: NaN, "b'])
    expect(logs.states.names).toEqual([])
    expect(logs.report.skipped.map(({ reason }) => reason)).toEqual([
      'has a value that is no number',
    ])
  })

  test('a name of two lines in CSV', async () => {
    const bytes = 'time,name\n1,"a\nb"\n2,c\n'
    const logs = await loadLogs({ before: { name: 'a.csv', bytes }, after: [] })
    expect(logs.events.names).toEqual(['a\nb', 'c'])
  })
})
