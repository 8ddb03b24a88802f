import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newEvents, tellingGraphs } from '../../src/explain/logs/log-words.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { LogSet } from '../../src/logs/features/log-set.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { randomSource } from '../../src/stats/random.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

const HALVES = 15
const recorded = (name: string) =>
  new URL(`../../datasets/${name}.jsonl.gz`, import.meta.url).pathname

/** The same instances, each of a random period. */
function shuffled(logs: LogSet, random: { next(): number }): LogSet {
  const { instances, runTimeUs, events, states, report } = logs
  const classOf = Uint8Array.from(instances, () => Number(random.next() < 0.5))
  return new LogSet({ instances, runTimeUs, events, states, report, classOf })
}

/** Requests that take as long as they take, and one service's log that nothing happens to. */
function simulated(seed: number) {
  const random = randomSource(seed)
  const wait = (mean: number) => -mean * Math.log(1 - random.next())
  const lines = Array.from({ length: 1500 }, (_, i) => {
    const request_id = `r${i}`
    let time = 1.7e12 + i * 400
    const say = (msg: string, more: object = {}) =>
      JSON.stringify({ time, request_id, msg, ...more })
    const first = say('received', { route: ['/cart', '/home', '/item'][i % 3] })
    time += wait(20)
    const second = say('locked', { upstream: `10.0.0.${1 + (i % 4)}:80` })
    time += wait(5)
    return [
      first,
      second,
      say('done', { bytes: wait(3000), status: random.next() < 0.02 ? 503 : 200 }),
    ]
  })
  return { name: 'web.log', bytes: lines.flat().join('\n') }
}

test('random halves have a graph to look at first in at most 5 %', async () => {
  const before = (name: string) => ({ before: recorded(name), after: [] })
  const [requests, windows] = [simulated(1), simulated(2)]
  const sets: Record<string, LogSet> = {
    requests: await loadLogs(
      { before: requests, after: [] },
      { instance: 'request_id', waits: 'always' },
    ),
    windows: await loadLogs({ before: windows, after: [] }, { window: '15s' }),
  }
  for (const name of [
    'storage-service-logs/good',
    'storage-service-logs/bad',
    'swarm/good',
    'swarm/bad',
  ]) {
    sets[name] = await loadLogs(before(name), { instance: 'instance' })
  }
  const random = randomSource(1)
  const found = Object.entries(sets).map(([name, logs]) => {
    const halves = Array.from({ length: HALVES }, () => compareLogs(shuffled(logs, random)))
    return { name, graphs: halves.filter((each) => tellingGraphs(each).length > 0).length }
  })
  console.log(found.map(({ name, graphs }) => `${name}: ${graphs} of ${HALVES}`).join(', '))
  const graphs = found.reduce((sum, each) => sum + each.graphs, 0)
  expect(graphs / (HALVES * found.length)).toBeLessThanOrEqual(0.05)
}, 600_000)

/** What faults say of themselves, and jobs of the label that show none (README of the data). */
const FAULTS = {
  Disk_full: {
    says: /not enough space on the disk|DiskErrorException/,
    silent: /_0001$|_0005$/,
  },
  Network_disconnection: {
    says: /NoRouteToHost|No live nodes contain|Bad response ERROR|Slow ReadProcessor|Address change/,
    silent: /^$/,
  },
} as const

describeWithShared('halves of Hadoop jobs', () => {
  const jobs = (label: string) => {
    const below = sharedFile(`data/loghub-hadoop/WordCount_${label}`) as string
    return readdirSync(below).map((job) => join(below, job))
  }

  test.each(Object.entries(FAULTS))(
    'either half of the jobs says the fault in the first five lines: %s',
    async (label, { says, silent }) => {
      const faulty = jobs(label).filter((job) => !silent.test(job))
      for (const [i, job] of faulty.entries()) {
        for (const after of [[job], faulty.filter((_, other) => other !== i)]) {
          const logs = await loadLogs({ before: jobs('Normal'), after })
          const [line1, line2, line3, line4] = newEvents(compareLogs(logs).divergence)
          const names = [line1, line2, line3, line4].map((one) => one?.name)
          expect(names.join('\n')).toMatch(says)
        }
      }
    },
    300_000,
  )
})
