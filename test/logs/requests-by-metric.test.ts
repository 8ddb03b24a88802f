import { expect, test } from 'vitest'
import { differenceOf, differences, tellingGraphs } from '../../src/explain/logs/log-words.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { randomSource } from '../../src/stats/random.ts'

const STEPS = [
  'HTable.get',
  'HTable.get_lookup',
  'HRegionServer.get',
  'StoreScanner_seek_start',
  'StoreScanner_seek_end',
  'HRegion.get_results',
  'post_get',
] as const
const USUAL_MS = [0, 0.3, 0.3, 0.2, 1.5, 0.2, 0.3]

/**
 * One log of reads as HBase's in the paper (§5.2): of a thousand, `lookups` wait a second for a stale
 * address of their region, and `seeks` tenths of a second for the disk.
 */
function readsLog({ lookups, seeks }: { lookups: number; seeks: number }, seed: number) {
  const random = randomSource(seed)
  const exponential = (mean: number) => -mean * Math.log(1 - random.next())
  const lines: (readonly [number, string])[] = []
  for (let read = 0; read < 6000; read++) {
    const start = Date.UTC(2011, 9, 1) + 5 * read
    let time = start
    STEPS.forEach((msg, step) => {
      time += exponential(USUAL_MS[step] ?? 0)
      if (step === 1 && random.next() < lookups / 1000) time += 1000
      if (step === 4 && random.next() < seeks / 1000) time += 110 + exponential(80)
      const end = step === STEPS.length - 1 ? { duration_ms: time - start } : {}
      lines.push([time, JSON.stringify({ time, row: `user${read}`, logger: 'hbase', msg, ...end })])
    })
  }
  lines.sort(([one], [other]) => one - other)
  return { name: 'hbase.log', bytes: lines.map(([, line]) => line).join('\n') }
}

const REQUESTS = { instance: 'row', badIf: 'duration_ms > 100' }
const logsOf = (truth: Parameters<typeof readsLog>[0], seed: number) =>
  loadLogs(readsLog(truth, seed), REQUESTS)

const namesOf = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name)

async function namesSlowSteps(seed: number) {
  const both = compareLogs(await logsOf({ lookups: 4, seeks: 15 }, seed))
  expect(both.options.metric).toEqual({
    variable: 'duration_ms',
    feature: 'maximum',
  })
  const steps = ['StoreScanner_seek_end', 'HTable.get_lookup'].map(
    (each) => `ms until hbase: ${each}`,
  )
  expect(namesOf(differences(both).told)).toEqual(steps)
  const [graph] = tellingGraphs(both)
  expect(namesOf(graph?.nodes.slice(1, 3) ?? []).sort()).toEqual(steps.toSorted())
  // As in the paper, weights bring what takes longest to the front though less often (§5.2.1).
  const weighted = both.with({ weights: 'latency' })
  expect(differences(weighted).told[0]?.name).toBe('ms until hbase: HTable.get_lookup')
  // Once it is mended, the disk is left (§5.2.2).
  const mended = compareLogs(await logsOf({ lookups: 0, seeks: 15 }, seed))
  expect(namesOf(differences(mended).told)).toEqual(['ms until hbase: StoreScanner_seek_end'])
}

test('the steps that make reads slow are named, and no other', { tags: 'full' }, () =>
  namesSlowSteps(1),
)
test.each([2, 3])(
  'the steps that make reads slow are named in log %i too',
  { tags: ['full'] },
  namesSlowSteps,
)

test('performance is the number that makes requests bad, unless another is named', async () => {
  const logs = await logsOf({ lookups: 4, seeks: 15 }, 1)
  const runTime = compareLogs(logs, { metric: 'runTime' })
  expect(runTime.tail.metric.unit).toBe('absolute time')
  const last = compareLogs(logs, { metric: 'HTable.get_lookup' })
  expect(last.tail.metric.name).toBe('hbase: HTable.get_lookup')
})

test('an upstream of few addresses tells slow requests', async () => {
  const lines = Array.from({ length: 300 }, (_, i) => {
    const upstream = `10.0.0.${1 + (i % 3)}:80`
    const duration_ms = (i % 3 === 2 ? 160 : 10) + (i % 7)
    return JSON.stringify({
      time: 1e12 + i,
      request_id: `r${i}`,
      msg: 'done',
      upstream,
      duration_ms,
    })
  })
  const log = { name: 'web.log', bytes: lines.join('\n') }
  const logs = await loadLogs(log, { instance: 'request_id', badIf: 'duration_ms > 100' })
  const compared = compareLogs(logs)
  const { told } = differences(compared)
  expect(told[0]?.name).toBe('done · upstream=10.0.0.3:80')
  // Slow requests end later, which says nothing: how many have it does.
  expect(told.map((each) => differenceOf(each, compared).what).join()).not.toMatch(
    /(?:first|last|median) time/,
  )
})

/** Requests of two endpoints; the text of a message says the duration once more. Slow ones were retried. */
function retriedLog(seed: number) {
  const random = randomSource(seed)
  const lines = Array.from({ length: 1500 }, (_, i) => {
    const [path, isPay] = random.next() < 0.8 ? ['/list', false] : ['/pay', true]
    const isRetried = isPay && random.next() < 0.2
    const duration_ms = Math.round(1000 * (20 + 40 * random.next() + (isRetried ? 150 : 0))) / 1000
    const request = { time: 1e12 + 100 * i, trace_id: `t${i}` }
    return [
      ...(isRetried
        ? [{ ...request, level: 'warn', msg: 'charge failed, retry', attempt: 1 }]
        : []),
      {
        ...request,
        msg: `GET ${path} 200 in ${Math.floor(duration_ms)} ms`,
        duration_ms,
        outcome: isRetried ? 'late' : 'fine',
      },
    ].map((line) => JSON.stringify(line))
  })
  return { name: 'web.log', bytes: lines.flat().join('\n') }
}

test('what makes requests bad explains nothing, whatever says it, and the event that tells them comes first', async () => {
  const conditions = {
    instance: 'trace_id',
    badIf: 'duration_ms > 100',
    exclude: ['* · outcome=*'],
  }
  const compared = compareLogs(await loadLogs(retriedLog(1), conditions))
  const told = namesOf(differences(compared).told)
  expect(told[0]).toBe('charge failed, retry')
  expect(told).toContain('GET /pay <num> in <num> ms')
  expect(told.filter((name) => /duration_ms| #\d/.test(name))).toEqual([])
  // All instances have what they were judged by, whichever event said it.
  const { performance } = compared.divergence
  expect([performance.beforeCount, performance.afterCount]).toEqual([
    compared.logs.counts.before,
    compared.logs.counts.after,
  ])
})

test('a text by which requests are bad is no explanation', async () => {
  const logs = await loadLogs(retriedLog(2), { instance: 'trace_id', badIf: 'outcome is late' })
  const names = namesOf(compareLogs(logs).divergence.variables)
  expect(names).toContain('charge failed, retry')
  expect(names.filter((name) => name.includes('outcome='))).toEqual([])
})
