import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadLogs } from '../../../src/logs/readers/load-logs.ts'
import { readLines } from '../../../src/logs/readers/read-log-file.ts'

async function linesOf(text: string, size: number) {
  const lines: string[] = []
  const tooLong: number[] = []
  async function* chunks() {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  let count = 0
  const sink = {
    record() {},
    skip: (_: string, line: number) => tooLong.push(line),
    skipFile() {},
    countLines: (lines: number) => {
      count = lines
    },
  }
  await readLines({ name: 'a.log', chunks: chunks(), sink }, (line, number) =>
    lines.push(`${number}|${line}`),
  )
  return { lines, tooLong, count }
}

describe('lines of text', () => {
  test('end in LF, CRLF or with the file, and may be blank', async () => {
    expect(await linesOf('a\r\n\nb\nc', 100)).toEqual({
      lines: ['1|a', '2|', '3|b', '4|c'],
      tooLong: [],
      count: 4,
    })
    expect((await linesOf('', 100)).count).toBe(0)
  })

  test('are the same in chunks of any size', async () => {
    const text = fc.array(fc.constantFrom('a', 'é', '😀', '\n', '\r\n', ' '), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (parts, size) => {
        const whole = parts.join('')
        expect(await linesOf(whole, size)).toEqual(await linesOf(whole, 1000))
      }),
      { seed: 2, numRuns: 30 },
    )
  })

  test('longer than 16 MB are given up, once', async () => {
    const text = `a\n${'x'.repeat(40 << 20)}\nb\n${'y'.repeat(20 << 20)}`
    expect(await linesOf(text, 1 << 20)).toEqual({
      lines: ['1|a', '3|b'],
      tooLong: [2, 4],
      count: 4,
    })
  })
})

describe('no line is lost silently', () => {
  test.each([
    [
      'jsonl',
      ['{"time":1,"name":"a"}', '{"time":2,"name":"b","value":3}', '{"time":', '{}', 'text', '[]'],
    ],
    ['csv', ['1,a,', '2,b,3', '3', '4,,', 'x,c,', '"5",d,"e"', '6,f,g']],
    ['logfmt', ['time=1 name=a', 'time=2 name=b value=3', 'text', 'x=1', 'time=3 name=c value=d']],
    [
      'log4j',
      ['2015-10-17 21:47:48 INFO [x] a.B: c', '2015-10-32 21:47:48 INFO [x] a.B: c', '\tat x', 'y'],
    ],
  ] as const)('of %s: each is blank, a message, or counted', async (format, kinds) => {
    const header = format === 'csv' ? 'time,name,value\n' : ''
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('', ...kinds), { maxLength: 12 }),
        async (lines) => {
          const bytes = `${header}${lines.join('\n')}\n`
          // One message, as logs without any are refused.
          const other = { name: 'b.log', bytes: `${header}${kinds[0]}\n` }
          const before = [{ name: 'a.log', bytes }, other]
          const { report } = await loadLogs({ before, after: [] }, { format })
          const { event, state } = report.messages
          const blank = lines.filter((line) => line === '').length
          expect(event + state + report.skippedLines + blank).toBe(lines.length + 1)
        },
      ),
      { seed: 3, numRuns: 25 },
    )
  })
})
