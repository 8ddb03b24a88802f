import type { SourceBuildWorkload } from '../client/workload.ts'
import { buildWorkload } from './build-workload.ts'
import type { Case } from './case.ts'
import { type ServiceConfiguration, usualService } from './configuration.ts'

const PREFETCH_FILES = 32
const THESIS_LOCKS = 30

/** Pages as large as they are usually made, and room for most of them. */
const buildService: ServiceConfiguration = {
  ...usualService,
  metadataServer: { ...usualService.metadataServer, pageBytes: 2048, pageCachePages: 32 },
  frontEnd: { ...usualService.frontEnd, attributeCacheFiles: 100 },
}

/** Directories hold about as many files as are prefetched. */
const workload: SourceBuildWorkload = { ...buildWorkload, headers: 120 }

export const mdsPrefetch: Case = {
  name: 'mds-prefetch',
  description:
    'A new feature: with every answer to an access, the metadata server sends the records of up ' +
    `to ${PREFETCH_FILES} other files of the directory. The front end needs to ask less often, ` +
    'but each record that is prefetched costs an acquired and released lock (thesis 3.3.3).',
  before: { service: buildService, workload },
  after: {
    service: {
      ...buildService,
      metadataServer: { ...buildService.metadataServer, prefetchFiles: PREFETCH_FILES },
    },
    workload,
  },
  truth: {
    kind: 'structural',
    cause: {
      service: 'mds',
      operation: 'prefetch',
      mechanism:
        'Each record to prefetch is looked up by itself: the lock of the directory is acquired ' +
        `and released for each. The thesis counts results with at least ${THESIS_LOCKS} such pairs.`,
    },
    affected: { span: { service: 'mds', operation: 'prefetch' } },
    relevant: {
      kind: 'structural',
      moreOf: { service: 'mds', operation: 'lock acquire', atLeast: THESIS_LOCKS },
    },
    smPThresholds: [50, 10],
  },
  extent: { requests: 3000, blocks: 6, warmUp: 75 },
}
