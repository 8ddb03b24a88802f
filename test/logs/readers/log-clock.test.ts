import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineBytes } from '../../../src/logs/readers/line-bytes.ts'
import { LogClock, type TimeUnit } from '../../../src/logs/readers/log-clock.ts'

const clock = (options: { timeZone?: string; dateFormat?: string; timeUnit?: TimeUnit } = {}) =>
  new LogClock({ timeZone: 'UTC', dateFormat: 'auto', timeUnit: 'auto', ...options })

/** 2015-10-17 21:47:48.288 UTC. */
const MOMENT = Date.UTC(2015, 9, 17, 21, 47, 48, 288) * 1000

describe('a date is read', () => {
  test.each([
    ['2015-10-17 21:47:48,288'],
    ['2015-10-17 21:47:48.288'],
    ['2015-10-17_21:47:48.288'],
    ['2015-10-17:21:47:48.288'],
    ['2015-10-17T21:47:48.288000000000Z'],
    ['2015-10-17T21:47:48.288Z'],
    ['2015-10-17T21:47:48.288000Z'],
    ['2015-10-17T23:47:48.288+02:00'],
    ['2015-10-17T16:47:48.288-0500'],
    ['2015-10-17 21:47:48.288 UTC'],
    ['2015/10/17 21:47:48.288'],
    ['2015-10-17-21.47.48.288000'],
    ['17 Oct 2015 21:47:48,288'],
    ['Sat Oct 17 21:47:48.288 2015'],
  ])('from %s', (text) => {
    expect(clock().text(text)).toBe(MOMENT)
  })

  test.each([['17/Oct/2015:23:47:48 +0200'], ['15/10/17 21:47:48'], ['151017 214748']])(
    'to the second, from %s',
    (text) => {
      expect(clock().text(text)).toBe(MOMENT - 288_000)
    },
  )

  test('to the microsecond', () => {
    expect(clock().text('2015-10-17 21:47:48.288123')).toBe(MOMENT + 123)
  })

  test('in the zone that option timeZone says', () => {
    expect(clock({ timeZone: 'CEST' }).text('2015-10-17 23:47:48,288')).toBe(MOMENT)
    expect(clock({ timeZone: '-05:00' }).text('2015-10-17 16:47:48,288')).toBe(MOMENT)
  })

  test('as option dateFormat says, and in no other way', () => {
    const german = clock({ dateFormat: 'dd.MM.yyyy HH:mm:ss,SSS' })
    expect(german.text('17.10.2015 21:47:48,288')).toBe(MOMENT)
    expect(german.text('2015-10-17 21:47:48,288')).toBeNaN()
  })

  test.each([
    ['2015-02-30 00:00:00'],
    ['2015-10-17 24:00:00'],
    ['2015-10-17 21:60:00'],
    ['2015-10-17 21:47:48 soon'],
    ['Foo 17 21:47:48'],
    ['yesterday'],
    [''],
  ])('not from %j', (text) => {
    expect(clock().text(text)).toBeNaN()
  })
})

describe('dates without a year', () => {
  test('go on in the next year when they run backwards by more than half of one', () => {
    const syslog = clock()
    const december = syslog.text('Dec 31 23:59:59')
    expect(syslog.text('Jan  1 00:00:01') - december).toBe(2_000_000)
    // A line that was held up.
    expect(syslog.text('Dec 31 23:59:58')).toBe(december - 1_000_000)
    expect(syslog.text('Jan  1 00:00:02') - december).toBe(3_000_000)
  })

  test('know February 29', () => {
    const syslog = clock()
    expect(syslog.text('Mar  1 00:00:00') - syslog.text('Feb 29 00:00:00')).toBe(86_400e6)
  })
})

test('times without a date go on past midnight', () => {
  const times = clock()
  const before = times.text('23:59:59.500')
  expect(times.text('00:00:00.250') - before).toBe(750_000)
  expect(times.text('23:59:59.900') - before).toBe(400_000)
})

describe('the unit of numbers', () => {
  test.each([
    ['seconds', 1_445_118_468.288],
    ['milliseconds', 1_445_118_468_288],
    ['microseconds', 1_445_118_468_288_000],
    ['nanoseconds', 1_445_118_468_288_000_000],
  ])('is told by their size: %s', (_, time) => {
    expect(clock().number(time)).toBeCloseTo(MOMENT, -1)
    expect(clock().text(String(time))).toBeCloseTo(MOMENT, -1)
  })

  test('is microseconds for times since a start, also when they grow past 10⁸', () => {
    const times = clock()
    expect([0, 5_000, 2e8].map((time) => times.number(time))).toEqual([0, 5_000, 2e8])
  })

  test('is what option timeUnit says', () => {
    expect(clock({ timeUnit: 's' }).number(1.5)).toBe(1_500_000)
    expect(clock({ timeUnit: 'ns' }).number(1500)).toBe(1.5)
  })
})

test('times on lines are those of their texts, whatever stood on the lines before', () => {
  const time = fc.tuple(
    fc.constantFrom('2015-10-17 21:47:48', '2015-10-17T21:47:49', '2015-10-18 25:00:00', '12:00'),
    fc.constantFrom('', ',', '.'),
    fc.constantFrom('', '0', '288', '288123', '2881239', '28x'),
    fc.constantFrom('', 'Z', '+02:00', ' CET', '?'),
  )
  fc.assert(
    fc.property(fc.array(time, { maxLength: 12 }), (times) => {
      const [ofLines, ofTexts] = [clock(), clock()]
      for (const text of times.map((parts) => parts.join(''))) {
        const line = new LineBytes()
        line.set(new TextEncoder().encode(`at ${text} on`), 0, text.length + 6)
        expect(ofLines.onLine(line, 3, text.length + 3)).toBe(ofTexts.text(text))
      }
    }),
    { seed: 3, numRuns: 500 },
  )
})

test('nanoseconds of OTLP keep their microseconds', () => {
  expect(clock().text('1445118468288123456')).toBe(MOMENT + 123.5)
})

describe('what cannot be is refused', () => {
  test('a time zone', () => {
    expect(() => clock({ timeZone: 'Mars/Base' })).toThrow(
      "Option timeZone is \"Mars/Base\". Give 'UTC', an offset as '+02:00', or 'CET'.",
    )
  })

  test('a date format without minutes, or with letters that mean nothing', () => {
    expect(() => clock({ dateFormat: 'yyyy-MM-dd' })).toThrow('a pattern with HH, mm and ss')
    expect(() => clock({ dateFormat: 'HH:mm:ss Q' })).toThrow('Q is none of them')
  })
})
