import type { TenantsWorkload } from '../client/workload.ts'
import type { Case } from './case.ts'
import { type ServiceConfiguration, usualService } from './configuration.ts'
import { twoTenants } from './tenant-workloads.ts'

const OLD = '2.0.3'
const NEW = '2.1.0'
const LARGE_BYTES = 65_536
const SPIN_US = 5000
const FAIL_EVERY = 6

const mayFail: TenantsWorkload = {
  kind: 'tenants',
  workers: 2,
  thinkMs: 4,
  directories: 3,
  tenants: twoTenants.map(({ id, workload }) => ({
    id,
    workload: workload.kind === 'mixed' ? { ...workload, mayFail: true } : workload,
  })),
}

/** A front end that keeps next to nothing in memory, so that most READs reach a replica. */
const served = (...dataNodes: readonly string[]): ServiceConfiguration => ({
  ...usualService,
  metadataServer: { ...usualService.metadataServer, pageBytes: 2048, pageCachePages: 64 },
  frontEnd: { ...usualService.frontEnd, cacheBlocks: 10, attributeCacheFiles: 200, dataNodes },
})

const replica = (number: number, version: string) => ({
  name: `replica ${number}, ${version}`,
  host: `storage-data-${number}`,
  version,
})
const [first, second, third] = [replica(0, OLD), replica(1, OLD), replica(2, OLD)]
const broken = {
  ...replica(2, NEW),
  largeReads: { fromBytes: LARGE_BYTES, spinUs: SPIN_US, failEvery: FAIL_EVERY },
}

export const brokenReplica: Case = {
  name: 'broken-replica',
  description:
    'Two tenants share the service; the data of files has three replicas. Later, one of them is ' +
    `updated from ${OLD} to ${NEW}, which verifies reads of ${LARGE_BYTES / 1024} KB and more ` +
    `wrongly: each takes ${SPIN_US / 1000} ms longer, and one in ${FAIL_EVERY} fails.`,
  before: { service: served(first.name, second.name, third.name), workload: mayFail },
  after: { service: served(first.name, second.name, broken.name), workload: mayFail },
  truth: {
    kind: 'response-time',
    cause: {
      service: 'storage-data',
      operation: 'SN READ',
      mechanism:
        `Version ${NEW}, on ${broken.host} alone, keeps the processor busy for ${SPIN_US / 1000} ms ` +
        `before it answers an SN READ of at least ${LARGE_BYTES} bytes; every ${FAIL_EVERY}th such ` +
        'read fails with EIO. One tenant reads as much more often than the other, that is all that ' +
        'tenants have to do with it.',
      parameter: { parameter: 'count', op: '>', value: LARGE_BYTES - 1 },
    },
    affected: null,
    relevant: {
      kind: 'response-time',
      changedEdge: {
        to: { service: 'storage-data', operation: 'SN READ', point: 'reply' },
        direction: 'slower',
      },
    },
    segment: [broken.host, 'count', String(LARGE_BYTES)],
  },
  dataNodes: [first, second, third, broken],
  changesAtBlock: 2,
  extent: { requests: 4000, blocks: 10, warmUp: 60 },
}
