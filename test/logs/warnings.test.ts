import { describe, expect, test } from 'vitest'
import { differences, leftOutSentences } from '../../src/explain/logs/log-words.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import type { LogClass } from '../../src/logs/features/log-set.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { randomSource } from '../../src/stats/random.ts'

/** Instances of both classes, each with what it logs. */
function logsOf(messages: Readonly<Record<LogClass, readonly (readonly string[])[]>>): LogBuilder {
  const builder = new LogBuilder()
  for (const logClass of ['before', 'after'] as const) {
    for (const [i, names] of messages[logClass].entries()) {
      builder.setInstance(logClass, `${logClass} ${i}`)
      for (const [at, name] of names.entries()) builder.logEvent(10 * at + i, name)
    }
  }
  return builder
}

const TWO = [
  ['a', 'b'],
  ['a', 'b'],
] as const

describe('what a comparison should be read with', () => {
  const warningsOf = (builder: LogBuilder) =>
    compareLogs(builder.build())
      .warnings()
      .map(({ code, message }) => `${code}: ${message}`)

  test('nothing, where all was read', () => {
    expect(warningsOf(logsOf({ before: TWO, after: TWO }))).toEqual([])
  })

  test('a single instance', () => {
    const [warning, ...more] = warningsOf(logsOf({ before: [['a']], after: TWO }))
    expect(warning).toMatch(
      /^one-instance: Only 1 instance before: a test needs two in each period\. .* \(dir\/\*\), or give the field that names the instance with `instance`\./,
    )
    expect(more).toEqual([])
  })

  test('lines that were skipped, but not those that belong to a message', () => {
    const builder = logsOf({ before: TWO, after: TWO })
    builder.notes.lines += 40
    builder.notes.skip('belongs to the message before it (stack trace, further line)', {
      text: 'x',
    })
    builder.notes.skip('has no name', { file: 'a.jsonl', line: 3, text: '{}' })
    expect(warningsOf(builder)).toEqual([])
    builder.notes.skip('has no name', { file: 'a.jsonl', line: 4, text: '{}' })
    expect(warningsOf(builder)).toEqual([
      'lines-skipped: 2 lines of 40 gave no message: a line has no name (2, as in a.jsonl:3). Name the field of names with `fields.name`.',
    ])
  })

  test('files not read, or empty', () => {
    const builder = logsOf({ before: [...TWO, []], after: TWO })
    builder.notes.unreadFiles.push('dir/README.md')
    expect(warningsOf(builder)).toEqual([
      'empty-instances: before 2 has no message, and counts as 1 instance in which nothing happened. Leave out files that should not count.',
      'unread-files: dir/README.md is in no known log format and was ignored. Give `format` to read it.',
    ])
  })
})

describe('performance is asked for at once', () => {
  const logs = logsOf({ before: TWO, after: [['a'], ['a']] }).build()

  test('a metric that there is not', () => {
    expect(() => compareLogs(logs, { metric: 'x' })).toThrow(
      'Metric "x" is no event of these logs. Give \'runTime\' or one of their variables: "a", "b".',
    )
    expect(() => compareLogs(logs, { metric: 5 as never })).toThrow('Option metric is 5.')
    expect(() => compareLogs(logs).with({ metric: 'x' })).toThrow('Metric "x" is no event')
  })

  test('a metric that no instance of a class has', () => {
    expect(() => compareLogs(logs, { metric: 'b' })).toThrow(
      'Option metric is "b". Give a metric that both periods have, such as \'runTime\': none of 2 instances of the after period has this one.',
    )
  })

  test('a class without instances', () => {
    expect(() => compareLogs(logsOf({ before: TWO, after: [] }).build())).toThrow(
      'There are no logs of the after period. Load logs of both periods.',
    )
  })
})

describe('an event that became far more frequent where no test of instances can tell', () => {
  const hosts = (retries: number) => {
    const random = randomSource(retries)
    const lines = Array.from({ length: 600 }, (_, i) => {
      const msg = i < retries ? 'charge failed' : `served ${'abcde'[Math.floor(5 * random.next())]}`
      return JSON.stringify({
        time: 1e12 + i,
        msg,
        host: `${i < retries ? 'pay' : 'web'}-${i % 5}`,
      })
    })
    return { name: `${retries}.log`, bytes: lines.join('\n') }
  }
  const notes = async (retries: readonly [number, number], instance?: string) => {
    const periods = { before: hosts(retries[0]), after: hosts(retries[1]) }
    const compared = compareLogs(
      await loadLogs(periods, instance === undefined ? {} : { instance }),
    )
    expect(differences(compared).told).toEqual([])
    return leftOutSentences(differences(compared), compared).join('\n')
  }

  test('is told with its numbers', async () => {
    expect(await notes([4, 150], 'host')).toContain(
      '1 event changed more than the others by number of messages: charge failed 4 → 150 (in 4 of 9 → 5 of 10 instances).',
    )
    expect(await notes([4, 150])).toContain('charge failed 4 → 150 (in 1 of 1 → 1 of 1 instance).')
  })

  test('and one that did not is not', async () => {
    expect(await notes([40, 50], 'host')).toBe('')
    expect(await notes([40, 50])).toBe('')
  })
})
