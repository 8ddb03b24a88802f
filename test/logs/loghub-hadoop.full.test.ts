import { readdirSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { type Divergence, findDivergence } from '../../src/logs/divergence/find-divergence.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

// Hadoop jobs with a fault that was injected (loghub); a directory is a job, an instance.
const DATA = sharedFile('data/loghub-hadoop')

function jobs(label: string): string[] {
  return readdirSync(`${DATA}/WordCount_${label}`)
    .sort()
    .map((job) => `${DATA}/WordCount_${label}/${job}`)
}

async function againstNormal(after: readonly string[]): Promise<Divergence> {
  return findDivergence(await loadLogs({ before: jobs('Normal'), after }))
}

function rankOf(divergence: Divergence, text: string): number {
  return 1 + divergence.variables.findIndex(({ name }) => name.includes(text))
}

describeWithShared('faults of Hadoop jobs', () => {
  let diskFull: Divergence
  let network: Divergence

  beforeAll(async () => {
    diskFull = await againstNormal(jobs('Disk_full'))
    network = await againstNormal(jobs('Network_disconnection'))
  }, 60_000)

  test('a full disk is among the first ten variables', () => {
    const rank = rankOf(diskFull, 'There is not enough space on the disk')
    console.log(`disk full: "There is not enough space on the disk" is variable ${rank}`)
    expect(rank).toBeGreaterThan(0)
    expect(rank).toBeLessThanOrEqual(10)
  })

  test('a cut network is among the first ten variables', () => {
    const rank = rankOf(network, 'NoRouteToHost')
    console.log(`network disconnected: "NoRouteToHostException" is variable ${rank}`)
    expect(rank).toBeGreaterThan(0)
    expect(rank).toBeLessThanOrEqual(10)
  })

  test('three jobs against five are too few for a significant difference', () => {
    expect(diskFull.variables.every(({ score }) => score === 0)).toBe(true)
  })

  test('one file an instance finds the same', async () => {
    const files = (label: string) =>
      jobs(label).flatMap((job) => readdirSync(job).map((file) => `${job}/${file}`))
    const logs = await loadLogs({ before: files('Normal'), after: files('Disk_full') })
    expect(logs.counts).toEqual({ before: 55, after: 81 })
    expect(rankOf(findDivergence(logs), 'There is not enough space on the disk')).toBe(1)
  }, 60_000)

  test('the two jobs labelled "disk full" that look like normal ones have nothing of it', async () => {
    const odd = jobs('Disk_full').filter((job) => /_000[15]$/.test(job))
    const { variables, performance } = await againstNormal(odd)
    const onlyThere = variables.filter(({ presence }) => presence.onlyIn === 'after')
    const faults = /exception|error|fail|space/i
    console.log(
      `jobs 0001 and 0005: ${onlyThere.length} variables of their own, ${onlyThere.filter(({ name }) => faults.test(name)).length} of them faults; ` +
        `${(performance.afterMean / 1e6).toFixed(0)} s against ${(performance.beforeMean / 1e6).toFixed(0)} s of normal ones`,
    )
    expect(odd.length).toBe(2)
    expect(onlyThere.filter(({ name }) => faults.test(name))).toEqual([])
    expect(performance.afterMean).toBeLessThan(performance.beforeMean)
  }, 60_000)
})
