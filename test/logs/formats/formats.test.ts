import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FORMATS_PAGE, formatsPage } from '../../../docs/log-formats.ts'
import type { LogRecord } from '../../../src/logs/readers/log-draft.ts'
import { readSettings } from '../../../src/logs/readers/log-read-options.ts'
import { onlyMessages } from '../../../src/logs/readers/log-sink.ts'
import { readLogFile } from '../../../src/logs/readers/read-log-file.ts'
import { openSource } from '../../../src/traces/trace-source.ts'
import { readText } from '../readers/log-messages.ts'
import { FORMAT_SAMPLES, type Said } from './corpus.ts'

async function recordsOf(bytes: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  const sink = onlyMessages((record) => records.push(record))
  const source = await openSource({ name: 'a.log', bytes })
  await readLogFile(source, { settings: readSettings({}), sink, isRequired: true })
  return records
}

function said(
  { timeUs, level, component, name, fields = [] }: LogRecord,
  expected: Said | undefined,
): Said {
  const known = Object.fromEntries(fields)
  const wanted = Object.keys(expected?.fields ?? {})
  return {
    time: String(timeUs),
    ...(level !== undefined && { level }),
    ...(component && { logger: component }),
    text: name,
    ...(wanted.length > 0 && {
      fields: Object.fromEntries(wanted.map((key) => [key, known[key] as string])),
    }),
  }
}

function usOf(time: string): string {
  const [, whole = time, fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? []
  return String(Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, '0')))
}

describe('logs are read as they are: time, level, message and fields of', () => {
  test.each(FORMAT_SAMPLES.map((sample) => [sample.name, sample] as const))(
    '%s',
    async (_, sample) => {
      const records = await recordsOf(sample.text)
      const found = records.map((record, i) => said(record, sample.says[i]))
      const rounded = found.map((one) => ({ ...one, time: String(Math.round(Number(one.time))) }))
      expect(rounded).toEqual(sample.says.map((one) => ({ ...one, time: usOf(one.time) })))
    },
  )
})

test('docs/log-formats.md lists the formats that are tested', () => {
  expect(readFileSync(FORMATS_PAGE, 'utf8')).toBe(formatsPage())
})

describe('what cannot be read is told', () => {
  test('of a line that ends in no known form', async () => {
    const line = '127.0.0.1 - - [22/Nov/2026:14:20:57 +0000] "GET / HTTP/1.1" 200 20 "-" "node"'
    const { report } = await readText(`${line} rt=0.1 a|b{c\n${line} rt=0.2\n${line} rt=0.2 !?`)
    expect(report.messages.event).toBe(3)
    expect(report.skipped.map(({ reason, count }) => [reason, count])).toEqual([
      ['ends in no form that is known', 2],
    ])
  })

  test('a file in which most lines begin no message', async () => {
    const good = '2026-11-22 14:20:57,260 - shop - ERROR - failed\n'
    const odd = '2026-11-22 14:20:57,260 - shop - SCHLIMM - failed\n'
    const { report } = await readText(good + odd.replace('2026', 'x2026').repeat(3))
    expect(report.skipped.map(({ reason, count }) => [reason, count])).toEqual([
      ['is in no form that is known', 3],
    ])
    await expect(readText('W1122 14:20:57.260000 cart.go:12] a\n'.repeat(3))).rejects.toThrow(
      'This is in no log format that is known; it begins "W1122 14:20:57.260000 cart.go:12] a W1122 14:20:57.260000 ca" ….',
    )
  })
})

const AT = '2026-11-22 14:20:57,260'
const STACKS: readonly (readonly [language: string, lines: string, events: readonly string[]])[] = [
  [
    'Java, whatever the type is called',
    `${AT} ERROR [main] shop.Cart: failed\nshop.OutOfStock: no stock\n\tat shop.Cart.main(Cart.java:2)\nCaused by: shop.DiskFull\n\t... 1 more`,
    ['Cart: failed', 'threw shop.DiskFull', 'threw shop.OutOfStock: no stock'],
  ],
  [
    'Python, with a cause',
    `${AT} - shop - ERROR - failed\nTraceback (most recent call last):\n  File "a.py", line 1, in f\npsycopg2.errors.DiskFull: could not extend file\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "a.py", line 2, in g\nshop.Broken\n`,
    ['shop: failed', 'threw psycopg2.errors.DiskFull: could not extend file', 'threw shop.Broken'],
  ],
  [
    'Go',
    `2026/11/22 14:20:57 serving\npanic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d\nexit status 2`,
    ['serving', 'threw panic: runtime error: index out of range [<num>] with length <num>'],
  ],
  [
    'Node',
    `2026-11-22T14:20:57.260Z [app] error: failed\nNoStock [ERR_STOCK]: no stock\n    at main (/app/cart.js:3:9)\n    at node:internal/main:1:1`,
    ['app: failed', 'threw NoStock: no stock'],
  ],
  [
    '.NET, with an inner exception',
    `2026-11-22 14:20:57.260|ERROR|Shop.Cart|failed\nShop.NoStock: no stock\n ---> System.IO.IOException: disk\n   at Shop.Cart.Main() in /app/Cart.cs:line 3\n   --- End of inner exception stack trace ---`,
    ['Cart: failed', 'threw Shop.NoStock: no stock', 'threw System.IO.IOException: disk'],
  ],
  [
    'Rust',
    `[2026-11-22T14:20:57Z WARN  shop] failing\nthread 'main' panicked at 'no stock', src/main.rs:2:5\nnote: run with \`RUST_BACKTRACE=1\``,
    ['shop: failing', 'threw panicked: no stock'],
  ],
]

describe('what was thrown belongs to its line, and is an event by its type: of', () => {
  test.each(STACKS)('%s', async (_, lines, events) => {
    const logs = await readText(lines)
    expect(logs.events.names).toEqual(events)
    expect(logs.report.skipped.map(({ reason }) => reason)).toEqual([
      'belongs to the message before it (stack trace, further line)',
    ])
  })

  test.each(STACKS)('%s, line by line in an envelope', async (_, lines, events) => {
    const carried = lines.split('\n').map((log, i) =>
      JSON.stringify({
        log: `${log}\n`,
        stream: 'stderr',
        time: `2026-11-22T14:20:58.${100 + i}Z`,
      }),
    )
    expect((await readText(carried.join('\n'))).events.names).toEqual(
      expect.arrayContaining([...events]),
    )
  })

  test.each([
    'panic: oh no\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d',
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\n... cut off',
  ])('a stack within a record ends with it: %j', async (stack) => {
    const record = (msg: string, more = {}) => JSON.stringify({ time: 1.7e12, msg, ...more })
    const lines = [record('failed', { stack }), record('cart is warm'), record('done')]
    const { names } = (await readText(lines.join('\n'))).events
    expect(names).toEqual(expect.arrayContaining(['cart is warm', 'done']))
  })

  test('a record that has a name, a type, and the rest in its text', async () => {
    const record = { time: 1.7e12, event: 'checkout.failed', 'error.kind': 'TypeError' }
    const body = "TypeError: no promo (reading 'off')\n    at apply (/app/a.js:1:2)"
    const logs = await readText(JSON.stringify({ ...record, body }))
    expect(logs.events.names).toEqual([
      'checkout.failed',
      "threw TypeError: no promo (reading 'off')",
    ])
  })

  test('two containers whose lines are mixed', async () => {
    const [one, other] = [STACKS[0], STACKS[1]].map((stack) => (stack?.[1] ?? '').split('\n'))
    const lines = (one ?? []).flatMap((line, i) => [`a-1 | ${line}`, `b-1 | ${other?.[i] ?? ''}`])
    const { events } = await readText(lines.join('\n'))
    expect(events.names).toEqual(
      expect.arrayContaining([
        'threw shop.OutOfStock: no stock',
        'threw psycopg2.errors.DiskFull: could not extend file',
      ]),
    )
  })
})
