import { describe, expect, test } from 'vitest'
import {
  causeText,
  decoyText,
  differences,
  fewText,
  inputText,
  logsTitle,
  performanceSentences,
} from '../../src/explain/logs/log-words.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import { unitOfName } from '../../src/logs/features/units.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { randomSource } from '../../src/stats/random.ts'

interface Pipeline {
  readonly runs: number
  readonly seed: number
  /** Whether the slow disk's event is counted, and not timed. */
  readonly counted?: boolean
}

/** Runs whose disk is slow after; their queue waits for it. A constant, a counter and a heartbeat differ more. */
function pipeline({ runs, seed, counted = false }: Pipeline) {
  const source = randomSource(seed)
  const random = () => source.next()
  const builder = new LogBuilder()
  for (let i = 0; i < 2 * runs; i++) {
    const isAfter = i >= runs
    builder.setInstance(isAfter ? 'after' : 'before', `run ${i}`, { startUs: 0 })
    const disk = (isAfter ? 8 : 2) * (0.6 + random())
    const wait = 20 * disk * (0.97 + 0.06 * random())
    const endUs = 1e4 * wait + 1e4 * random()
    builder.logState(0, 'threads', isAfter ? 32 : 16)
    for (let k = 0; k < 8; k++) {
      const timeUs = ((k + 0.2 + 0.6 * random()) * endUs) / 8
      if (!counted) builder.logState(timeUs, 'disk_ms', disk * (0.98 + 0.04 * random()))
      builder.logState(timeUs, 'queue_ms', wait * (0.95 + 0.1 * random()))
      builder.logState(timeUs, 'rows', (isAfter ? 3000 : 1000) + 9 * random())
    }
    if (counted) for (let k = 0; k < 10 * disk; k++) builder.logEvent(random() * endUs, 'stall')
    for (let t = 50_000; t < endUs; t += 50_000 + 900 * random()) builder.logEvent(t, 'beat')
    builder.logEvent(endUs, 'finish')
  }
  return compareLogs(builder.build(), { metric: 'finish' })
}

/** Windows in which several events take some ms: of `slow` more after, and of all others as many ms as before. */
function durations({
  ms,
  more,
  rare,
  seed,
}: Readonly<Record<'more' | 'rare' | 'seed', number>> & { ms: Readonly<Record<string, number>> }) {
  const source = randomSource(seed)
  const builder = new LogBuilder()
  for (let i = 0; i < 40; i++) {
    const isAfter = i >= 20
    builder.setInstance(isAfter ? 'after' : 'before', `window ${i}`, { startUs: 0 })
    for (const [event, mean] of Object.entries(ms)) {
      const isSlow = event === 'slow'
      const times = isSlow && isAfter ? rare : 30
      for (let k = 0; k < times; k++) {
        const timeUs = 1e4 * (k + source.next())
        builder.logEvent(timeUs, event)
        builder.logState(
          timeUs,
          `${event}.took_ms`,
          mean * (isSlow && isAfter ? more : 1) * (0.8 + 0.4 * source.next()),
        )
      }
    }
  }
  return compareLogs(builder.build(), { metric: 'took_ms' })
}

describe('the headline', () => {
  test.each([
    {
      ms: { slow: 130, read: 4, write: 2 },
      more: 2,
      rare: 20,
      seed: 1,
      says: /from 1\d\d ms to 2\d\d ms in slow$/,
    },
    {
      ms: { read: 9, slow: 40, list: 20 },
      more: 0.25,
      rare: 30,
      seed: 2,
      says: /^took_ms is smaller because it falls from 39\.\d ms to 9\.\d+ ms in slow$/,
    },
  ])(
    'is the event by whose own records a metric of several changed, seed $seed',
    ({ says, ...given }) => {
      const compared = durations(given)
      expect(logsTitle(compared)).toMatch(says)
      expect(differences(compared).told[0]?.name).toBe('slow.took_ms')
    },
  )

  test('is no event of which there are only more records', () => {
    const compared = durations({ ms: { slow: 130, read: 4 }, more: 1, rare: 60, seed: 3 })
    expect(compared.changedPart).toBeUndefined()
    expect(logsTitle(compared)).toBe('slow: number 30 → 60')
  })

  test.each([
    { runs: 34, seed: 1 },
    { runs: 40, seed: 2 },
  ])('is the path to performance: $runs runs, seed $seed', (given) => {
    const compared = pipeline(given)
    const path = compared.attention.headline?.path.map(({ name }) => name)
    expect(['disk_ms', 'queue_ms']).toEqual(expect.arrayContaining(path ?? ['none']))
    expect(logsTitle(compared)).toMatch(/^finish comes later because .* rises from [\d.]+ ms to /)
    expect(decoyText(compared)).toBe('threads differs most, but it is constant within each period.')
    const order = compared.variables.filter(({ score }) => score > 0)
    expect(order.slice(0, path?.length).map(({ name }) => name)).toEqual(path?.toReversed())
    expect(differences(compared).told[0]?.name).toBe(path?.at(-1))
    const idle = order.filter((variable) => variable.idle !== null)
    expect(idle.map(({ name, idle: why }) => [name, why])).toEqual(
      expect.arrayContaining([
        ['threads', 'constant'],
        ['beat', 'timer'],
      ]),
    )
    expect(order.slice(-idle.length)).toEqual(idle)
  })

  test('may be how often something happens, though a timer comes more often, too', () => {
    const compared = pipeline({ runs: 34, seed: 3, counted: true })
    expect(compared.attention.headline?.path.map(({ name }) => name)).not.toContain('beat')
    expect(compared.divergence.variable('event', 'stall')?.idle).toBeNull()
    expect(compared.divergence.variable('event', 'beat')?.idle).toBe('timer')
  })

  test('of few runs is none, and says how many would do', () => {
    const compared = pipeline({ runs: 8, seed: 4 })
    expect(compared.attention.headline).toBeNull()
    expect(fewText(compared)).toBe(
      '8 instances before and 8 after are too few to learn what performance depends on; 30 of each would be enough.',
    )
  })
})

const log = (name: string, lines: readonly object[]) => ({
  name,
  bytes: lines.map((line) => JSON.stringify(line)).join('\n'),
})
const at = (ms: number) => new Date(Date.UTC(2026, 6, 18) + ms).toISOString()

describe('a metric that is logged many times', () => {
  const requests = (count: number, typical: number, last: number) =>
    log(`server ${typical}`, [
      ...Array.from({ length: count }, (_, i) => ({
        ts: at(1000 * i),
        msg: 'request done',
        took_us: typical * (1 + ((i * 7) % 10) / 10),
      })),
      { ts: at(1000 * count), msg: 'request done', took_us: last },
    ])

  test.each([
    [300, 1000, 4000, 2],
    [500, 4000, 900, 90_000],
  ])('is the mean of its records in windows: %i records', async (count, was, is, last) => {
    const logs = await loadLogs({
      before: requests(count, was, last),
      after: requests(count, is, last),
    })
    const compared = compareLogs(logs, { metric: 'took_us' })
    const mean = (typical: number) => (1.45 * typical * count + last) / (count + 1)
    expect(compared.records?.before.mean).toBeCloseTo(mean(was), 6)
    expect(compared.records?.after.mean).toBeCloseTo(mean(is), 6)
    expect(compared.records?.before.median).toBeCloseTo((last > was ? 1.5 : 1.4) * was, -2)
    expect(compared.divergence.performance).toMatchObject({ significant: true })
    expect(compared.logs.counts.before).toBeGreaterThanOrEqual(20)
    expect(inputText(compared)).toMatch(/^\d\d windows of 1[05] s before and \d\d after/)
    expect(performanceSentences(compared)[0]).toMatch(/: [\d.]+ ms on average before, [\d.]+ ms/)
    expect(compared.warnings()).toEqual([])
    // What comes once is of the whole logs.
    expect(compared.with({ metric: 'runTime' }).logs).toBe(logs)
  })

  test('is read without windows where one time is decades off', async () => {
    const off = log('old', [
      { ts: '1970-01-01T00:00:00.000Z', msg: 'request done', took_us: 1 },
      ...Array.from({ length: 50 }, (_, i) => ({ ts: at(i), msg: 'request done', took_us: 1 })),
    ])
    const logs = await loadLogs({ before: requests(2, 1000, 1000), after: off })
    expect(logs.counts).toEqual({ before: 1, after: 1 })
  })
})

test('of one start each, the event whose pace changed is told', async () => {
  const start = (name: string, gap: number, last: number) =>
    log(name, [
      { ts: at(0), msg: 'Welcome' },
      ...Array.from({ length: 40 }, (_, i) => ({ ts: at(gap * (i + 1)), msg: 'Loaded part' })),
      { ts: at(40 * gap + last), msg: 'Ready' },
    ])
  const titleOf = async (before: object, after: object) => {
    const logs = await loadLogs({ before, after } as Parameters<typeof loadLogs>[0])
    return causeText(compareLogs(logs, { metric: 'Ready' }))
  }
  expect(await titleOf(start('a', 60, 10), start('b', 900, 10))).toBe(
    'Ready comes later because Loaded part comes every 900 ms instead of every 60 ms',
  )
  expect(await titleOf(start('a', 900, 10), start('b', 60, 10))).toBe(
    'Ready comes earlier because Loaded part comes every 60 ms instead of every 900 ms',
  )
  // Nothing repeated is slower: the end comes later after it.
  expect(await titleOf(start('a', 60, 10), start('b', 60, 90_000))).toBe(
    'Ready comes later because Ready comes 1.5 min after Loaded part (before: 10 ms)',
  )
})

test.each([
  ['write_us', 'µs'],
  ['done.durationMs', 'ms'],
  ['took <num> bytes in <num> s #2', 's'],
  ['took <num> bytes in <num> s #1', 'bytes'],
  ['ms until done', 'ms'],
  ['heap_kb', 'KB'],
  ['index_entries', undefined],
  ['s', undefined],
])('the unit of %s is %s', (name, unit) => {
  expect(unitOfName(name)?.text).toBe(unit)
})

test.each([
  ['storage-service-logs', /lock_wait_us .* through write_us$/, /^index_entries differs most/],
  ['swarm', /handshake .* through connect$/, undefined],
  [
    'late-timer',
    /^finish comes later because interest_wait_us rises from [\d.]+ ms to /,
    /^table_nodes differs most/,
  ],
])('the headline of %s is its planted cause', async (name, title, decoy) => {
  const folder = new URL(`../../datasets/${name}/`, import.meta.url)
  const file = (period: string) => new URL(`${period}.jsonl.gz`, folder)
  const read = { before: file('good'), after: file('bad') }
  const compared = compareLogs(await loadLogs(read, { instance: 'instance' }), { metric: 'finish' })
  expect(logsTitle(compared)).toMatch(title)
  if (decoy === undefined) expect(decoyText(compared)).toBeUndefined()
  else expect(decoyText(compared)).toMatch(decoy)
})
