import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LogBuilder, MAX_KEPT } from '../../src/logs/features/log-builder.ts'
import {
  EVENT_FEATURES,
  type EventFeature,
  type LogSet,
  STATE_FEATURES,
  type StateFeature,
} from '../../src/logs/features/log-set.ts'

function eventOf(logs: LogSet, name: string, instance: number): Record<EventFeature, number> {
  const index = logs.events.indexOf(name) as number
  return Object.fromEntries(
    EVENT_FEATURES.map((feature) => [feature, logs.events.of(index, feature)[instance]]),
  ) as Record<EventFeature, number>
}

function stateOf(logs: LogSet, name: string, instance: number): Record<StateFeature, number> {
  const index = logs.states.indexOf(name) as number
  return Object.fromEntries(
    STATE_FEATURES.map((feature) => [feature, logs.states.of(index, feature)[instance]]),
  ) as Record<StateFeature, number>
}

describe('the features of events', () => {
  const builder = new LogBuilder()
  builder.setInstance('before', 'a')
  builder.logEvent(1_000, 'start')
  for (const time of [1_100, 1_200, 1_600, 1_300]) builder.logEvent(time, 'piece')
  builder.logEvent(2_000, 'end')
  builder.setInstance('after', 'b')
  builder.logEvent(50, 'start')
  const logs = builder.build()

  test('times count from the first message; relative ones are shares of the run', () => {
    expect(eventOf(logs, 'piece', 0)).toEqual({
      firstAbsolute: 100,
      medianAbsolute: 250,
      lastAbsolute: 600,
      firstRelative: 0.1,
      medianRelative: 0.25,
      lastRelative: 0.6,
      count: 4,
    })
    expect([...logs.runTimeUs]).toEqual([1_000, 0])
  })

  test('an event that did not happen has no times and the count 0', () => {
    const { count, ...times } = eventOf(logs, 'piece', 1)
    expect(count).toBe(0)
    expect(Object.values(times).every(Number.isNaN)).toBe(true)
  })

  test('a run of a single message has no relative times', () => {
    const start = eventOf(logs, 'start', 1)
    expect([start.firstAbsolute, start.firstRelative, start.count]).toEqual([0, Number.NaN, 1])
  })

  test('an instance may start before its first message, but not after it', () => {
    const own = new LogBuilder()
    own.setInstance('before', 'early', { startUs: 400 })
    own.logEvent(1_000, 'x')
    own.setInstance('before', 'late', { startUs: 9_000 })
    own.logEvent(1_000, 'x')
    expect([...own.build().events.of(0, 'firstAbsolute')]).toEqual([600, 0])
  })
})

describe('the features of state variables', () => {
  test('snapshots are the values that held at ¼, ½ and ¾ of the run', () => {
    const builder = new LogBuilder()
    builder.setInstance('before', 'a')
    builder.logEvent(0, 'start')
    for (const [time, value] of [
      [100, 4],
      [250, 8],
      [499, 2],
      [800, 6],
    ] as const) {
      builder.logState(time, 'queue', value)
    }
    builder.logEvent(1_000, 'end')
    expect(stateOf(builder.build(), 'queue', 0)).toEqual({
      minimum: 2,
      mean: 5,
      maximum: 8,
      final: 6,
      quarterAbsolute: 8,
      halfAbsolute: 2,
      threeQuartersAbsolute: 2,
      quarterRelative: 1,
      halfRelative: 0,
      threeQuartersRelative: 0,
    })
  })

  test('before the first value there is none, and what never changes has no relative ones', () => {
    const builder = new LogBuilder()
    builder.setInstance('before', 'a')
    builder.logEvent(0, 'start')
    for (let i = 0; i < 7; i++) builder.logState(400 + i, 'threads', 0.1)
    builder.logEvent(1_000, 'end')
    const { quarterAbsolute, halfAbsolute, halfRelative, mean } = stateOf(
      builder.build(),
      'threads',
      0,
    )
    // Summed up and divided, seven times 0.1 would be another number.
    expect([quarterAbsolute, halfAbsolute, halfRelative, mean]).toEqual([
      Number.NaN,
      0.1,
      Number.NaN,
      0.1,
    ])
  })

  test('of two values at one time the one that came last holds', () => {
    const builder = new LogBuilder()
    builder.setInstance('before', 'a')
    builder.logState(5, 'x', 1)
    builder.logState(5, 'x', 2)
    builder.logState(0, 'x', 3)
    expect(stateOf(builder.build(), 'x', 0)).toMatchObject({ final: 2, quarterAbsolute: 3 })
  })
})

test('features do not depend on the order of messages', () => {
  const message = fc.record({
    time: fc.integer({ min: 0, max: 100_000 }),
    name: fc.constantFrom('a', 'b', 'c'),
    value: fc.option(fc.integer({ min: -50, max: 50 })),
  })
  const messages = fc.uniqueArray(message, { selector: ({ time }) => time, maxLength: 40 })
  const build = (all: readonly { time: number; name: string; value: number | null }[]) => {
    const builder = new LogBuilder()
    builder.setInstance('after', 'one')
    for (const { time, name, value } of all) {
      if (value === null) builder.logEvent(time, name)
      else builder.logState(time, name, value)
    }
    const logs = builder.build()
    // The same mean up to the order of adding.
    const rounded = (value: number) => Number(value.toPrecision(12))
    return [
      ...logs.events.names.map((name) => [name, eventOf(logs, name, 0)]),
      ...logs.states.names.map((name) => {
        const features = Object.entries(stateOf(logs, name, 0))
        return [name, features.map(([type, value]) => [type, rounded(value)])]
      }),
    ]
  }
  const shuffled = messages.chain((all) =>
    fc
      .shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
      .map((other) => [all, other] as const),
  )
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      expect(build(other)).toEqual(build(one))
    }),
  )
})

describe('instances', () => {
  test('may be gone on with, and the same id in the other class is another one', () => {
    const builder = new LogBuilder()
    builder.setInstance('before', 'n')
    builder.logEvent(0, 'x')
    builder.setInstance('after', 'n')
    builder.logEvent(0, 'x')
    builder.setInstance('before', 'n')
    builder.logEvent(9, 'x')
    const logs = builder.build()
    expect(logs.counts).toEqual({ before: 1, after: 1 })
    expect([...logs.events.of(0, 'count')]).toEqual([2, 1])
  })

  test('closed ones keep their features and take no more messages', () => {
    const builder = new LogBuilder()
    const instance = builder.instanceCode('before', 'n')
    builder.event(instance, builder.eventCode('x'), 7)
    builder.close(instance)
    builder.close(instance)
    expect(builder.build().events.of(0, 'count')[0]).toBe(1)
    expect(() => builder.event(instance, 0, 8)).toThrow(
      'Instance "n" got a message after it was closed. Close an instance when all its messages are read.',
    )
  })

  test('a message belongs to one', () => {
    expect(() => new LogBuilder().logEvent(0, 'x')).toThrow(
      'Message "x" belongs to no instance. Call setInstance(class, id) first.',
    )
    expect(() => new LogBuilder().setInstance('slow' as 'after', 'x')).toThrow(
      "Option logClass is \"slow\". Give 'before', 'after'.",
    )
  })

  test('without messages they are kept, without times, and reported', () => {
    const builder = new LogBuilder()
    builder.setInstance('before', 'full')
    builder.logEvent(0, 'x')
    builder.setInstance('after', 'empty')
    const logs = builder.build()
    expect([...logs.events.of(0, 'count')]).toEqual([1, 0])
    expect(logs.report.emptyInstances).toEqual(['empty'])
    expect([...logs.runTimeUs]).toEqual([0, Number.NaN])
  })
})

describe('the report', () => {
  test('counts messages without a finite time or value, and names the first', () => {
    const builder = new LogBuilder()
    builder.setInstance('before', 'a')
    builder.logState(1, 'load', Number.NaN)
    builder.logState(2, 'load', Number.POSITIVE_INFINITY)
    builder.logState(3, 'load', 1)
    builder.logEvent(Number.NaN, 'never')
    const logs = builder.build()
    expect(logs.report.skipped).toEqual([
      {
        reason: 'has a time or a value that is not finite',
        count: 3,
        first: [
          { text: 'state load is NaN at 1 in instance a' },
          { text: 'state load is Infinity at 2 in instance a' },
          { text: 'event never at NaN in instance a' },
        ],
      },
    ])
    expect(logs.events.names).toEqual([])
    expect(logs.report.messages).toEqual({ event: 0, state: 1 })
  })

  test('keeps the first five lines of a reason, and counts all', () => {
    const builder = new LogBuilder()
    builder.notes.lines += 10
    for (let line = 1; line <= 7; line++) {
      builder.notes.skip('no time', { file: 'a.log', line, text: 'x'.repeat(200) })
    }
    const { report } = builder.build()
    expect([report.lines, report.skippedLines, report.skipped[0]?.first.length]).toEqual([10, 7, 5])
    expect(report.table().get('example', 0)).toBe(`a.log:1: ${'x'.repeat(120)}…`)
  })

  test('of too many messages to keep all but medians and snapshots are exact', () => {
    const builder = new LogBuilder()
    const instance = builder.instanceCode('after', 'busy')
    const [event, state] = [builder.eventCode('tick'), builder.stateCode('level')]
    const count = 3 * MAX_KEPT
    for (let time = 0; time < count; time++) {
      builder.event(instance, event, time)
      builder.state(instance, state, time, time)
    }
    const logs = builder.build()
    const { lastAbsolute, medianAbsolute, ...tick } = eventOf(logs, 'tick', 0)
    expect([tick.firstAbsolute, lastAbsolute, tick.count]).toEqual([0, count - 1, count])
    expect(Math.abs((medianAbsolute as number) - (count - 1) / 2)).toBeLessThanOrEqual(4)
    const { mean, maximum, final, halfAbsolute } = stateOf(logs, 'level', 0)
    expect([mean, maximum, final]).toEqual([(count - 1) / 2, count - 1, count - 1])
    expect(Math.abs((halfAbsolute as number) - (count - 1) / 2)).toBeLessThanOrEqual(4)
  })
})

test('a set of logs shows an instance a row', () => {
  const builder = new LogBuilder()
  for (const id of ['a', 'b']) {
    builder.setInstance(id === 'a' ? 'before' : 'after', id)
    builder.logEvent(0, 'x')
    builder.logState(10, 'y', 1)
  }
  const logs = builder.build()
  expect(logs.table().objects()[1]).toEqual({
    instance: 'b',
    class: 'after',
    runTimeUs: 10,
    events: 1,
    eventMessages: 1,
    states: 1,
  })
})
