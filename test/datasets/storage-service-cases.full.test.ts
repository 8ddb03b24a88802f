import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { batchJob, innocentBatchJob } from '../../datasets/storage-service/cases/batch-job.ts'
import { brokenReplica } from '../../datasets/storage-service/cases/broken-replica.ts'
import type { Case, Extent, Side } from '../../datasets/storage-service/cases/case.ts'
import { control } from '../../datasets/storage-service/cases/control.ts'
import { createBehaviour } from '../../datasets/storage-service/cases/create-behaviour.ts'
import { mdsConfig } from '../../datasets/storage-service/cases/mds-config.ts'
import { mdsPrefetch } from '../../datasets/storage-service/cases/mds-prefetch.ts'
import { periodicSpikes } from '../../datasets/storage-service/cases/periodic-spikes.ts'
import { rmw } from '../../datasets/storage-service/cases/rmw.ts'
import type { Workload } from '../../datasets/storage-service/client/workload.ts'
import { Constellation } from '../../datasets/storage-service/recording/constellation.ts'
import { recordCase } from '../../datasets/storage-service/recording/record-case.ts'
import { type RecordedSpan, readTraces } from './storage-service/otlp-lines.ts'

type Trace = RecordedSpan[]

/** The same case without waiting, and with so many requests between the periods of one run. */
function quick(recorded: Case, requestsBetween: number): Case {
  const workload = (usual: Workload): Workload => ({ ...usual, thinkMs: 0 })
  const { before, after } = recorded
  return {
    ...recorded,
    before: { ...before, workload: workload(before.workload) },
    after: { ...after, workload: workload(after.workload) },
    ...(recorded.requestsBetween === undefined ? {} : { requestsBetween }),
  }
}

const named = (trace: Trace, service: string, name: string) =>
  trace.filter((span) => span.service === service && span.name === name)
const rootOf = (trace: Trace) => trace.find((span) => span.parentSpanId === undefined)
const rootsOf = (traces: Trace[]) => traces.map((trace) => rootOf(trace)?.name)
const byTime = (traces: Trace[]) =>
  rootsOf(traces.toSorted((a, b) => Number(rootOf(a)?.startNs) - Number(rootOf(b)?.startNs)))
const count = (traces: Trace[], service: string, name: string) =>
  traces.reduce((sum, trace) => sum + named(trace, service, name).length, 0)

describe('the cases of the storage service', () => {
  const service = new Constellation({ seed: 'test', sample: 1 })
  const recorded = new Map<string, { before: Trace[]; after: Trace[] }>()

  const record = async (asked: Case, extent: Partial<Extent> = {}, requestsBetween = 300) => {
    const files = await recordCase(service, quick(asked, requestsBetween), {
      requests: 60,
      blocks: 1,
      warmUp: 4,
      seed: 3,
      rehearsal: 2,
      ...extent,
    })
    recorded.set(asked.name, {
      before: await readTraces(files.before),
      after: await readTraces(files.after),
    })
    await Promise.all([rm(files.before), rm(files.after)])
  }
  const periodsOf = ({ name }: Case) => recorded.get(name) ?? { before: [], after: [] }

  beforeAll(async () => {
    await service.start()
    await record(mdsConfig)
    await record(mdsPrefetch, { requests: 90 })
    await record(createBehaviour, { requests: 50, warmUp: 0 })
    await record(control)
    await record(periodicSpikes, { requests: 80, warmUp: 0 })
    await service.stop()
  }, 300_000)

  afterAll(() => service.stop())

  test.each([control, mdsConfig, mdsPrefetch, periodicSpikes])(
    '$name sends the same requests in both periods, in the same order',
    (asked) => {
      const { before, after } = periodsOf(asked)
      expect(before.length).toBeGreaterThan(50)
      expect(byTime(after)).toEqual(byTime(before))
    },
  )

  test('control does the same in both periods, span by span', () => {
    const { before, after } = periodsOf(control)
    const shapes = (traces: Trace[]) =>
      traces.map((trace) => trace.map(({ service, name }) => `${service} ${name}`).sort()).sort()
    expect(shapes(after)).toEqual(shapes(before))
  })

  test('mds-config moves the metadata to the data node, from two copies to three stripes', () => {
    const { before, after } = periodsOf(mdsConfig)
    expect(count(after, 'storage-meta', 'SN WRITE')).toBe(0)
    const written = (traces: Trace[]) =>
      traces
        .flat()
        .filter(({ name }) => name.startsWith('index'))
        .reduce((sum, span) => sum + Number(span.attributes.get('pages.written')), 0)
    expect(written(before)).toBeGreaterThan(10)
    expect(count(before, 'mds', 'SN WRITE')).toBe(2 * written(before))
    expect(count(after, 'mds', 'SN WRITE')).toBe(3 * written(after))
    const schemes = (traces: Trace[]) =>
      new Set(
        traces
          .flat()
          .filter((span) => span.attributes.has('distribution.scheme'))
          .map(({ attributes }) =>
            ['scheme', 'data', 'parity'].map((key) => attributes.get(`distribution.${key}`)).join(),
          ),
      )
    expect(schemes(before)).toEqual(new Set(['replication,1,1']))
    expect(schemes(after)).toEqual(new Set(['erasure,2,1']))
  })

  test('mds-config writes the parts of a page at the same time', () => {
    const writes = periodsOf(mdsConfig)
      .after.flatMap((trace) => named(trace, 'mds', 'SN WRITE'))
      .sort((a, b) => Number(a.startNs - b.startNs))
    for (let i = 0; i < writes.length; i += 3) {
      const [first, ...others] = writes.slice(i, i + 3)
      for (const other of others) expect(other.startNs < (first?.endNs ?? 0n)).toBe(true)
    }
  })

  test('mds-prefetch acquires and releases a lock per record, on every access', () => {
    const { before, after } = periodsOf(mdsPrefetch)
    expect(count(before, 'mds', 'prefetch')).toBe(0)
    const prefetches = after.filter((trace) => named(trace, 'mds', 'prefetch').length > 0)
    expect(prefetches.length).toBeGreaterThan(10)
    for (const trace of prefetches) {
      const records = named(trace, 'mds', 'prefetch').map((span) =>
        Number(span.attributes.get('prefetch.records')),
      )
      expect(Math.min(...records)).toBeGreaterThanOrEqual(29)
      const locks = named(trace, 'mds', 'lock acquire').length
      expect(locks).toBeGreaterThanOrEqual(31 * records.length)
      expect(named(trace, 'mds', 'lock release')).toHaveLength(locks)
    }
  })

  test('mds-prefetch spares the front end some questions', () => {
    const { before, after } = periodsOf(mdsPrefetch)
    const unknown = (traces: Trace[]) =>
      traces.filter((trace) => rootOf(trace)?.attributes.get('attributes.cached') === false).length
    expect(unknown(after)).toBeLessThan(unknown(before))
  })

  test('create-behaviour needs more and more of the storage node for a CREATE', () => {
    const { before, after } = periodsOf(createBehaviour)
    expect(new Set(rootsOf([...before, ...after]))).toEqual(new Set(['NFS3 CREATE']))
    const loop = (traces: Trace[]) =>
      (count(traces, 'mds', 'SN READ') + count(traces, 'mds', 'SN WRITE')) / traces.length
    expect(loop(after)).toBeGreaterThan(1.5 * loop(before))
    const lastNs = Math.max(...before.map((trace) => Number(rootOf(trace)?.endNs)))
    expect(Math.min(...after.map((trace) => Number(rootOf(trace)?.startNs)))).toBeGreaterThan(
      lastNs,
    )
  })

  test('periodic-spikes pauses in the after period, before one request in 75', () => {
    const pauses = (traces: Trace[]) => {
      const roots = traces.map((trace) => rootOf(trace)).sort((a, b) => order(a) - order(b))
      return roots.flatMap((root, i) => {
        const idleMs = (order(root) - order(roots[i - 1], 'endNs')) / 1e6
        return i > 0 && idleMs > 195 ? [i] : []
      })
    }
    const order = (span: RecordedSpan | undefined, key: 'startNs' | 'endNs' = 'startNs') =>
      Number(span?.[key])
    const { before, after } = periodsOf(periodicSpikes)
    // A busy machine may pause elsewhere as well.
    expect(pauses(after)).toContain(74)
    expect(pauses(before)).not.toContain(74)
  })
})

describe('the cases with tenants', () => {
  const { dataNodes } = brokenReplica
  const service = new Constellation({ seed: 'test', sample: 1, dataNodes })
  const replicas = brokenReplica.before.service.frontEnd.dataNodes
  let broken: Trace[] = []
  let batch: Trace[] = []

  beforeAll(async () => {
    await service.start()
    const record = async (asked: Case, extent: Partial<Extent>) => {
      const files = await recordCase(service, asked, {
        requests: 160,
        blocks: 1,
        warmUp: 4,
        seed: 3,
        rehearsal: 2,
        ...extent,
      })
      const traces = await readTraces(files.after)
      await Promise.all([rm(files.before), rm(files.after)])
      return traces
    }
    broken = await record({ ...brokenReplica, changesAtBlock: 1 }, { blocks: 2, requests: 400 })
    const { before, after: then } = batchJob
    const served = (side: Side): Side => ({
      ...side,
      service: { ...side.service, frontEnd: { ...side.service.frontEnd, dataNodes: replicas } },
    })
    batch = await record(
      { ...batchJob, before: served(before), after: served(then) },
      { requests: 600 },
    )
    await service.stop()
  }, 300_000)

  afterAll(() => service.stop())

  test('broken-replica fails large reads of the new version only, and reads take turns', () => {
    const reads = broken.flatMap((trace) => named(trace, 'storage-data', 'SN READ'))
    const failed = reads.filter(({ failed }) => failed)
    expect(failed.length).toBeGreaterThan(0)
    for (const { host, attributes } of failed) {
      expect(host).toBe('storage-data-2')
      expect(attributes.get('count')).toBeGreaterThanOrEqual(65_536)
    }
    const perHost = ['0', '1', '2'].map(
      (one) => reads.filter(({ host }) => host === `storage-data-${one}`).length,
    )
    expect(Math.max(...perHost) - Math.min(...perHost)).toBeLessThanOrEqual(4)
  })

  test('every request of a tenant says whose it is', () => {
    const tenants = new Set(batch.map((trace) => rootOf(trace)?.attributes.get('tenant.id')))
    expect(tenants).toEqual(new Set(['acme', 'globex', 'batch-co']))
  })

  test('in batch-job nobody looks into a directory while it is listed', () => {
    const at = (trace: Trace, name: string) => named(trace, 'mds', name)[0]
    const isListing = (trace: Trace) => rootOf(trace)?.name === 'NFS3 READDIRPLUS'
    const listings = batch.filter(isListing)
    expect(listings.length).toBeGreaterThan(5)
    for (const listing of listings) {
      const [acquired, scan] = [at(listing, 'lock acquire'), at(listing, 'index scan')]
      const others = batch
        .filter((trace) => !isListing(trace))
        .filter(
          (trace) =>
            at(trace, 'lock acquire')?.attributes.get('lock.name') ===
            acquired?.attributes.get('lock.name'),
        )
      for (const other of others.flatMap((trace) => named(trace, 'mds', 'index get'))) {
        expect(other.endNs <= (scan?.startNs ?? 0n) || other.startNs >= (scan?.endNs ?? 0n)).toBe(
          true,
        )
      }
    }
  })
})

describe('what each truth says', () => {
  const truths = [
    batchJob,
    brokenReplica,
    control,
    createBehaviour,
    innocentBatchJob,
    mdsConfig,
    mdsPrefetch,
    periodicSpikes,
    rmw,
  ]
  test.each(truths)('$name: a cause unless nothing changed', ({ truth }) => {
    expect(truth.cause === null).toBe(truth.kind === 'none')
    expect(truth.relevant.none === true).toBe(truth.kind === 'none')
  })
})
