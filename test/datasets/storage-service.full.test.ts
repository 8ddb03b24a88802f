import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Case, Side } from '../../datasets/storage-service/cases/case.ts'
import { delay1ms } from '../../datasets/storage-service/cases/delay-1ms.ts'
import { rmw } from '../../datasets/storage-service/cases/rmw.ts'
import type { Workload } from '../../datasets/storage-service/client/workload.ts'
import { Constellation } from '../../datasets/storage-service/recording/constellation.ts'
import { recordCase } from '../../datasets/storage-service/recording/record-case.ts'
import { type RecordedSpan, readTraces } from './storage-service/otlp-lines.ts'

const REQUESTS = 60
const RECORDS = 14
const RECORD = fileURLToPath(new URL('../../datasets/storage-service/record.ts', import.meta.url))
const NODE_ARGUMENTS = ['--import', import.meta.resolve('tsx'), RECORD]

/** The same case, quick, with a cache so small that most blocks are not in it. */
function small({ service, workload }: Side): Side {
  return {
    service: {
      ...service,
      frontEnd: { ...service.frontEnd, cacheBlocks: 8, dirtyBlockLimit: 3, writeBackBatch: 2 },
    },
    workload: smallWorkload(workload),
  }
}

function smallWorkload(workload: Workload): Workload {
  const quick = { directories: 3, thinkMs: 0 }
  if (workload.kind === 'sequential') return { ...workload, ...quick, records: RECORDS }
  if (workload.kind === 'mixed') return { ...workload, ...quick, files: 16, appendShare: 0 }
  throw new Error(`This test does not know the workload ${workload.kind}.`)
}

type Traces = RecordedSpan[][]
const has = (trace: RecordedSpan[], service: string, name: string) =>
  trace.some((span) => span.service === service && span.name === name)
const rootOf = (trace: RecordedSpan[]) => trace.find((span) => span.parentSpanId === undefined)
const writesOf = (traces: Traces) => traces.filter((trace) => rootOf(trace)?.name === 'NFS3 WRITE')

describe('the storage service', () => {
  const service = new Constellation({ seed: 'test', sample: 1 })
  const recorded = new Map<string, { before: Traces; after: Traces }>()
  let pids: number[] = []
  let directory = ''
  let data = ''

  const record = async (recordedCase: Case) => {
    const quick = {
      ...recordedCase,
      before: small(recordedCase.before),
      after: small(recordedCase.after),
    }
    const options = { requests: REQUESTS, blocks: 1, seed: 7, warmUp: 4, rehearsal: 8 }
    const files = await recordCase(service, quick, options)
    recorded.set(recordedCase.name, {
      before: await readTraces(files.before),
      after: await readTraces(files.after),
    })
    await Promise.all([rm(files.before), rm(files.after)])
  }

  const sides = () => [...recorded.values()].flatMap(({ before, after }) => [before, after])
  const spans = () => sides().flat(2)
  const periodsOf = (name: string) => recorded.get(name) ?? { before: [], after: [] }

  beforeAll(async () => {
    await service.start()
    directory = service.directory
    pids = service.pids
    await record(delay1ms)
    await record(rmw)
    const [object = ''] = await readdir(join(directory, 'storage-data', 'before'))
    data = await readFile(join(directory, 'storage-data', 'before', object), 'latin1')
    await service.stop()
  }, 60_000)

  afterAll(() => service.stop())

  test('records every request of each period, and no request of the warm-up', () => {
    expect(sides().map((traces) => traces.length)).toEqual([REQUESTS, REQUESTS, REQUESTS, REQUESTS])
  })

  test('records each request as one whole tree under a span of the front end', () => {
    for (const trace of sides().flat()) {
      const byId = new Map(trace.map((span) => [span.spanId, span]))
      expect(byId.size).toBe(trace.length)
      const roots = trace.filter((span) => span.parentSpanId === undefined)
      expect(roots.map(({ service, name }) => `${service} ${name.slice(0, 5)}`)).toEqual([
        'frontend NFS3 ',
      ])
      for (const { parentSpanId } of trace) {
        expect(parentSpanId === undefined || byId.has(parentSpanId)).toBe(true)
      }
    }
  })

  test('times all processes by one clock: no span begins before its parent or ends after it', () => {
    for (const trace of sides().flat()) {
      const byId = new Map(trace.map((span) => [span.spanId, span]))
      for (const span of trace) {
        const parent = byId.get(span.parentSpanId ?? '')
        expect(span.endNs).toBeGreaterThanOrEqual(span.startNs)
        if (parent === undefined) continue
        expect(span.startNs).toBeGreaterThanOrEqual(parent.startNs)
        expect(span.endNs).toBeLessThanOrEqual(parent.endNs)
      }
    }
  })

  test('names its spans and hosts without anything unique', () => {
    const vocabulary = new Set(
      spans().map(({ service, host, name }) => `${host} ${service} ${name}`),
    )
    expect(vocabulary.size).toBeLessThan(50)
    expect(vocabulary).toContain('storage-data-0 storage-data disk write')
    expect(vocabulary).toContain('mds-0 mds lock acquire')
    expect([...vocabulary].filter((text) => /\d{2}/.test(text))).toEqual([])
  })

  test('notes sizes, hits and lock waits', () => {
    const keysOf = (name: string) =>
      new Set(spans().flatMap((span) => (span.name === name ? [...span.attributes.keys()] : [])))
    expect([...keysOf('NFS3 WRITE')].sort()).toEqual([
      'attributes.cached',
      'count',
      'offset',
      'stable',
    ])
    expect([...keysOf('cache lookup')].sort()).toEqual(['cache.hit', 'cache.hits', 'cache.misses'])
    expect([...keysOf('lock acquire')].sort()).toEqual([
      'lock.kind',
      'lock.name',
      'lock.wait_us',
      'queue.length',
    ])
  })

  test('reads nothing for a WRITE of whole blocks: before rmw', () => {
    const writes = writesOf(periodsOf('rmw').before)
    expect(writes.length).toBeGreaterThan(5)
    expect(writes.filter((trace) => has(trace, 'storage-data', 'SN READ'))).toEqual([])
  })

  test('reads the block first for a WRITE of a part of one that is not in memory: after rmw', () => {
    const lastBlock = (RECORDS - 1) * 16384
    const grows = (trace: RecordedSpan[]) => has(trace, 'mds', 'MDS SETATTR')
    const writes = writesOf(periodsOf('rmw').after).filter(
      (trace) => Number(rootOf(trace)?.attributes.get('offset')) < lastBlock && !grows(trace),
    )
    const missed = writes.filter((trace) =>
      trace.some((span) => Number(span.attributes.get('cache.misses')) > 0),
    )
    expect(missed.length).toBeGreaterThan(5)
    for (const trace of writes) {
      expect(has(trace, 'storage-data', 'SN READ')).toBe(missed.includes(trace))
      expect(rootOf(trace)?.attributes.get('count')).toBe(4096)
    }
  })

  test('spends the planted millisecond between the disk write and the reply: delay-1ms', () => {
    const gapsUs = (traces: Traces) =>
      traces.flat().flatMap((reply, _, all) => {
        const disk = all.find((s) => s.name === 'disk write' && s.parentSpanId === reply.spanId)
        if (reply.kind !== 2 || disk === undefined) return []
        return [Number(reply.endNs - disk.endNs) / 1000]
      })
    const { before, after } = periodsOf('delay-1ms')
    expect(Math.min(...gapsUs(before))).toBeLessThan(1000)
    expect(gapsUs(after).length).toBeGreaterThan(5)
    expect(Math.min(...gapsUs(after))).toBeGreaterThanOrEqual(1000)
  })

  test('has written into real files what the client made up', () => {
    expect(data.slice(0, 4)).toMatch(/^(\0|d\d\d\/)/)
    expect(/d\d\d\/q\d-\d{4}@\d+ write \d+;/.test(data)).toBe(true)
  })

  test('leaves no process and no folder behind', async () => {
    expect(pids).toHaveLength(5)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await expect(readdir(directory)).rejects.toThrow('ENOENT')
  })
})

describe('npm run record', () => {
  test('says which cases there are when asked for another', async () => {
    const run = promisify(execFile)(process.execPath, [...NODE_ARGUMENTS, 'nonsense'])
    await expect(run).rejects.toMatchObject({
      stderr: expect.stringContaining(
        'nonsense is not a case. Give one of: batch-job, broken-replica,',
      ),
    })
  })

  test('leaves nothing behind when it is interrupted', { timeout: 60_000 }, async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'record-interrupted-'))
    const run = spawn(
      process.execPath,
      [...NODE_ARGUMENTS, 'rmw', '--out', join(temporary, 'out')],
      {
        env: { ...process.env, TMPDIR: temporary },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    try {
      let said = ''
      run.stderr.on('data', (chunk) => {
        said += chunk
        if (said.includes('warming up')) run.kill('SIGINT')
      })
      const [code] = await once(run, 'exit')
      expect(said).toContain('Nothing was recorded: SIGINT')
      expect(code).toBe(130)
      expect((await readdir(temporary)).filter((name) => name.startsWith('storage'))).toEqual([])
    } finally {
      run.kill('SIGKILL')
      await rm(temporary, { recursive: true, force: true })
    }
  })
})
