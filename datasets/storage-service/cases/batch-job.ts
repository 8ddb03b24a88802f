import type { ListingWorkload, TenantsWorkload } from '../client/workload.ts'
import type { Case } from './case.ts'
import { type ServiceConfiguration, usualService } from './configuration.ts'
import { twoTenants } from './tenant-workloads.ts'

const BATCH = 'batch-co'
const SHARED_DIRECTORIES = 3
const LAYOUT_SPIN_US = 400
const STARTS_AFTER = 450

/** Pages large enough and room for most of them: a listing mostly waits. */
const service: ServiceConfiguration = {
  ...usualService,
  metadataServer: {
    ...usualService.metadataServer,
    pageBytes: 2048,
    pageCachePages: 64,
    scanPauseMs: 2,
  },
  frontEnd: { ...usualService.frontEnd, attributeCacheFiles: 40 },
}

const tenants = twoTenants.map(({ id, workload }) => ({
  id,
  workload: { ...workload, workers: 2, thinkMs: 20 },
}))
const workload: TenantsWorkload = {
  kind: 'tenants',
  workers: 4,
  thinkMs: 20,
  directories: SHARED_DIRECTORIES + 1,
  tenants,
}

/** A third tenant, which lists directories over and over from some time on. */
function withBatchJob({
  firstDirectory,
  directories,
}: Pick<ListingWorkload, 'firstDirectory' | 'directories'>) {
  const listing: ListingWorkload = {
    kind: 'listing',
    workers: 1,
    thinkMs: 25,
    firstDirectory,
    directories,
    files: 30,
  }
  const batch = { id: BATCH, workload: listing, startsAfter: STARTS_AFTER }
  return { ...workload, workers: 5, tenants: [...tenants, batch] }
}

const shared: Pick<Case, 'before' | 'order' | 'extent'> = {
  before: { service, workload },
  order: 'together',
  extent: { requests: 3000, blocks: 1, warmUp: 200 },
}
const LISTING = { service: 'frontend', operation: 'NFS3 READDIRPLUS' } as const

export const batchJob: Case = {
  ...shared,
  name: 'batch-job',
  description:
    `A third tenant, ${BATCH}, starts to list the directories that all tenants share. A listing ` +
    'pauses now and then to leave the processors to others, and keeps the lock of the directory ' +
    'meanwhile: whoever looks up a file there waits until it is done (thesis 7.3.5).',
  after: {
    service,
    workload: withBatchJob({ firstDirectory: 0, directories: SHARED_DIRECTORIES }),
  },
  truth: {
    kind: 'response-time',
    cause: {
      service: 'mds',
      operation: 'lock acquire',
      mechanism:
        '"MDS READDIR" holds the lock of its directory while it looks up all of its files, with a ' +
        'pause of 2 ms after every eight. Nothing in the service changed.',
    },
    affected: null,
    relevant: {
      kind: 'response-time',
      changedEdge: {
        to: { service: 'mds', operation: 'lock acquire', point: 'reply' },
        direction: 'slower',
      },
    },
    interferes: { ...LISTING, tenant: BATCH, resource: 'lock.name' },
  },
}

export const innocentBatchJob: Case = {
  ...shared,
  name: 'innocent-batch-job',
  description:
    `A third tenant, ${BATCH}, starts to list a directory of its own, as often and as slowly as in ` +
    '"batch-job", which nobody waits for. At the same time the metadata server takes longer to say ' +
    'where a file lies.',
  after: {
    service: {
      ...service,
      metadataServer: { ...service.metadataServer, layoutSpinUs: LAYOUT_SPIN_US },
    },
    workload: withBatchJob({
      firstDirectory: SHARED_DIRECTORIES,
      directories: SHARED_DIRECTORIES + 1,
    }),
  },
  truth: {
    kind: 'response-time',
    cause: {
      service: 'mds',
      operation: 'MDS GETLAYOUT',
      mechanism: `A spin loop of ${LAYOUT_SPIN_US} µs before the reply of "MDS GETLAYOUT".`,
    },
    affected: { span: { service: 'mds', operation: 'MDS GETLAYOUT' } },
    relevant: {
      kind: 'response-time',
      changedEdge: {
        to: { service: 'mds', operation: 'MDS GETLAYOUT', point: 'reply' },
        direction: 'slower',
      },
    },
    interferes: null,
  },
}
