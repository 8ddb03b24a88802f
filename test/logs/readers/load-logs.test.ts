import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadLogs } from '../../../src/logs/readers/load-logs.ts'
import type { LogReadOptions } from '../../../src/logs/readers/log-read-options.ts'
import { contentOf, eventCounts, firstTimes, readText, skipped } from './log-messages.ts'

let folder = ''
const at = (...parts: string[]) => join(folder, ...parts)
const line = (time: number, name: string) => `{"time":${time},"name":"${name}"}\n`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowdelta-read-logs-'))
  mkdirSync(at('job', 'deep'), { recursive: true })
  mkdirSync(at('empty'))
  writeFileSync(at('job', 'b.jsonl'), line(30, 'b') + line(10, 'a'))
  writeFileSync(at('job', 'deep', 'c.log.gz'), gzipSync(line(50, 'c')))
  writeFileSync(at('job', 'nothing.log'), '')
  writeFileSync(at('job', 'picture.png'), Uint8Array.of(0x89, 0x50, 0, 1, 2, 3))
  writeFileSync(at('plain.csv'), 'time,name\n5,a\n9,b\n')
  symlinkSync(at('plain.csv'), at('job', 'link.csv'))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('a path is an instance', () => {
  test('a file, or a directory with everything below it, compressed or not', async () => {
    const logs = await loadLogs({ before: at('plain.csv'), after: [`${at('job')}/`] })
    expect(logs.instances).toEqual([at('plain.csv'), at('job')])
    expect([...logs.classOf]).toEqual([0, 1])
    expect(eventCounts(logs)).toEqual({ a: [1, 2], b: [1, 2], c: [0, 1] })
    expect(firstTimes(logs)).toEqual({ a: [0, 0], b: [4, 4], c: [Number.NaN, 45] })
    expect([...logs.runTimeUs]).toEqual([4, 45])
    expect(logs.report.lines).toBe(9)
  })

  test('also as the URL of a file', async () => {
    const logs = await loadLogs({ before: pathToFileURL(at('plain.csv')), after: [] })
    expect(eventCounts(logs)).toEqual({ a: [1], b: [1] })
  })

  test('and what is no log in a directory is told', async () => {
    const logs = await loadLogs({ before: at('job'), after: [] })
    // It is no line: none was skipped.
    expect(logs.report.skipped).toEqual([])
    expect(logs.report.unreadFiles).toEqual([at('job', 'picture.png')])
    expect(logs.report.table().objects()).toContainEqual({
      issue: 'file in no log format that is known',
      effect: 'file skipped',
      count: 1,
      example: at('job', 'picture.png'),
    })
  })

  test('an empty file is an instance without messages', async () => {
    const before = [at('job', 'nothing.log'), at('job', 'b.jsonl')]
    const logs = await loadLogs({ before, after: at('plain.csv') })
    expect(logs.report.emptyInstances).toEqual([at('job', 'nothing.log')])
  })
})

describe('a field may say which instance a message is of', () => {
  const bytes = '{"time":1,"name":"a","node":"n1"}\n{"time":2,"name":"a","node":"n2"}\n'

  test('of all files of a class; classes do not share instances', async () => {
    const logs = await loadLogs(
      {
        before: [
          { name: 'x', bytes },
          { name: 'y', bytes },
        ],
        after: { name: 'z', bytes },
      },
      { instance: 'node' },
    )
    expect(logs.instances).toEqual(['n1', 'n2', 'n1', 'n2'])
    expect(eventCounts(logs)).toEqual({ a: [2, 2, 1, 1] })
  })
})

describe('formats are recognized', () => {
  test.each([
    ['jsonl', '{"time":1,"name":"a"}'],
    ['csv', 'time,name\n1,a'],
    ['logfmt', 'time=1 name=a'],
    ['log4j', '2015-10-17 21:47:48,288 INFO [main] a.B: c'],
    ['text', '2015-10-17 21:47:48 c'],
  ] as const)('%s', async (format, bytes) => {
    const logs = await readText(bytes)
    expect(logs.report.messages.event).toBe(1)
    expect(contentOf(await readText(bytes, { format }))).toEqual(contentOf(logs))
  })

  test('by most lines, not by the first', async () => {
    const logs = await readText(`starting up\n${line(1, 'a')}${line(2, 'b')}`)
    expect(skipped(logs)).toEqual({ 'is not in the format of its file': [1, 'a.log:1'] })
  })

  test('or the file is refused', async () => {
    await expect(readText('no log\nat all\n')).rejects.toThrow(
      'a.log: This is in no log format that is known; it begins "no log at all ". Known formats are jsonl, csv, logfmt, text, log4j, otlp, json.',
    )
  })
})

describe('what cannot be is refused', () => {
  test('paths', async () => {
    await expect(loadLogs({ before: at('none'), after: [] })).rejects.toThrow(
      `${at('none')} cannot be opened (ENOENT). Check the name and the permissions.`,
    )
    await expect(loadLogs({ before: at('empty'), after: [] })).rejects.toThrow(
      'Give a directory with files in it.',
    )
    const twice = [at('job'), `${at('job')}/`]
    await expect(loadLogs({ before: twice, after: [] })).rejects.toThrow(
      'Give each file and directory once.',
    )
    await expect(loadLogs({ before: [], after: [] })).rejects.toThrow(
      'Option logs is "[]". Give { before: paths, after: paths }.',
    )
  })

  test.each([
    [{ format: 'xml' }, "'auto', 'jsonl', 'csv', 'logfmt', 'text', 'log4j', 'otlp' or 'json'"],
    [{ templates: 'some' }, "'mined', 'none'"],
    [{ timeUnit: 'min' }, "'auto', 's', 'ms', 'us' or 'ns'"],
    [{ fields: { when: 'x' } }, 'There is no option fields.when'],
    [{ zone: 'UTC' }, 'There is no option zone'],
  ])('option %j', async (options, message) => {
    await expect(readText('x', options as LogReadOptions)).rejects.toThrow(message)
  })

  test('a class of another name', async () => {
    const logs = { before: [], worse: [] } as unknown as Parameters<typeof loadLogs>[0]
    await expect(loadLogs(logs)).rejects.toThrow('There is no option worse')
  })
})
