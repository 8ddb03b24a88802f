import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { LinePlans } from '../../../src/logs/readers/line-plans.ts'
import { loadLogs } from '../../../src/logs/readers/load-logs.ts'
import { type LogReadOptions, readSettings } from '../../../src/logs/readers/log-read-options.ts'
import { onlyMessages } from '../../../src/logs/readers/log-sink.ts'
import { readLogFile } from '../../../src/logs/readers/read-log-file.ts'
import { openSource } from '../../../src/traces/trace-source.ts'
import { FORMAT_SAMPLES } from '../formats/corpus.ts'
import { contentOf, eventCounts, finalValues, readText } from './log-messages.ts'

/** Reads as usual, and as if no line was of a form that is known. */
async function withAndWithoutPlans<T>(read: () => Promise<T>): Promise<[planned: T, plain: T]> {
  const planned = await read()
  const find = vi.spyOn(LinePlans.prototype, 'find').mockReturnValue('none')
  const plain = await read()
  find.mockRestore()
  return [planned, plain]
}

async function bothWays(bytes: string, options: LogReadOptions = {}) {
  const log = {
    before: { name: 'a.log', bytes },
    after: { name: 'b.log', bytes: bytes.slice(-400) },
  }
  return withAndWithoutPlans(async () => {
    try {
      const logs = await loadLogs(log, options)
      return { content: contentOf(logs), report: logs.report.table().objects() }
    } catch (error) {
      return (error as Error).message
    }
  })
}

/** A digit of a text changed to another; what is no time then is one line that is skipped. */
const changed = (text: string, places: readonly number[]) =>
  places.reduce((line, place) => {
    const digits = Array.from(line.matchAll(/\d|(?<=[\da-f]{4})[a-f]/g), ({ index }) => index)
    const at = digits[place % Math.max(1, digits.length)]
    if (at === undefined) return line
    const other = /\d/.test(line[at] as string) ? (place * 7) % 10 : 'abcdef'[place % 6]
    return `${line.slice(0, at)}${other}${line.slice(at + 1)}`
  }, text)

/** What a reader finds in a text, by plans and line by line. */
async function foundBothWays(bytes: string) {
  return withAndWithoutPlans(async () => {
    const all: unknown[] = []
    const sink = {
      ...onlyMessages((record) =>
        all.push({ ...structuredClone(record), timeUs: String(record.timeUs) }),
      ),
      skip: (...skipped: unknown[]) => all.push(skipped),
    }
    const source = await openSource({ name: 'a.log', bytes })
    await readLogFile(source, { settings: readSettings({}), sink, isRequired: false })
    return all
  })
}

const SAMPLES = FORMAT_SAMPLES.filter(({ text }) => !/^[[{]\s*\n/.test(text))

test('lines of each layout are told from those before as if each was read by itself', async () => {
  const places = fc.array(fc.nat(500), { maxLength: 4 })
  const variants = fc.array(places, { minLength: 6, maxLength: 9 })
  for (const { name, text } of SAMPLES) {
    const isTable = /^#|^[\w@ [\]]+,[\w@, [\]]+\n/.test(text)
    const property = fc.asyncProperty(variants, async (all) => {
      const lines = isTable ? [text] : all.map((own) => changed(text, own))
      const [planned, plain] = await foundBothWays(lines.join('\n'))
      expect(planned, name).toEqual(plain)
    })
    await fc.assert(property, { seed: 5, numRuns: 1 })
  }
})

test('lines that differ in words, numbers, ids and notations are told as if each was read by itself', async () => {
  const word = fc.constantFrom(
    'read',
    'wrote',
    '0x1f',
    '1x1f',
    '::1',
    '::2',
    'n1',
    'n2',
    'h2o',
    '{}',
  )
  const id = fc.constantFrom('a1b2c3d4', '12345678', 'abcdef12', '1234567a', 'blk_12', 'x-1bc23456')
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  const parts = fc.tuple(
    word,
    id,
    number,
    fc.nat(59),
    fc.constantFrom('Error: a.b.CError: 7', 'ok'),
  )
  const line = parts.map(
    ([one, two, three, second, end]) =>
      `2026-11-22 10:00:${String(second).padStart(2, '0')},123 INFO [t${second}] a.B: ${one} ${two} took ${three} ms ${end}`,
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 5, maxLength: 60 }), async (lines) => {
      const [planned, plain] = await bothWays(lines.join('\n'))
      expect(planned).toEqual(plain)
    }),
    { seed: 6, numRuns: 20 },
  )
})

test('values are those of each line, wherever they stand', async () => {
  const line = (i: number) =>
    `{"time":${1700000000000 + i},"id":"${'0123456789abcdef'.slice(i % 8)}${'f0'.repeat(4)}","msg":"took ${i + 10} of 99","n":${i + 0.25},"m":"${i}ms","status":${i % 2 === 0 ? 200 : 503}}`
  const logs = await readText(Array.from({ length: 40 }, (_, i) => line(i + 50)).join('\n'))
  expect(finalValues(logs)).toEqual({
    'took <num> of <num> #1': [99],
    'took <num> of <num> #2': [99],
    'took <num> of <num>.m': [89],
    'took <num> of <num>.n': [89.25],
  })
  expect(eventCounts(logs)['took <num> of <num> · status=503']).toEqual([20])
  expect([...logs.runTimeUs]).toEqual([39_000])
})

const FAILED = (i: number) =>
  `2026-11-22 10:00:${10 + i},123 ERROR [main] shop.Cart: OutOfStock: no stock${i % 2 === 0 ? '' : ` of ${i}`}\n`
const FRAME = '\tat shop.Cart.main(Cart.java:2)\n'

test('a stack behind a message names what it threw, though the text is that of lines before', async () => {
  const lines = Array.from({ length: 20 }, (_, i) => FAILED(i) + FRAME)
  const thrown = Object.entries(eventCounts(await readText(lines.join('')))).filter(([name]) =>
    name.startsWith('threw'),
  )
  expect(thrown).toEqual([
    ['threw OutOfStock: no stock', [10]],
    ['threw OutOfStock: no stock of <num>', [10]],
  ])
})

test('a message stays as it is when the bytes of its line are read over', async () => {
  const long = FRAME.replace('main', 'main'.repeat(30))
  const lines = Array.from({ length: 20 }, (_, i) => [FAILED(2 * i + 1), long]).flat()
  const buffer = new Uint8Array(400)
  async function* chunks() {
    for (const line of lines) {
      const { written } = new TextEncoder().encodeInto(line, buffer)
      yield buffer.subarray(0, written)
    }
  }
  const names: string[] = []
  const sink = onlyMessages(({ name, component }) => {
    if (component?.startsWith('threw')) names.push(`${component}: ${name}`)
  })
  const head = new TextEncoder().encode(lines.join(''))
  const source = { name: 'a.log', bytes: 0, open: async () => ({ head, chunks: chunks() }) }
  await readLogFile(source, { settings: readSettings({}), sink, isRequired: true })
  expect(names).toEqual(
    Array.from({ length: 20 }, (_, i) => `threw OutOfStock: no stock of ${2 * i + 1}`),
  )
})
