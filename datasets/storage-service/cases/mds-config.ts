import type { PostmarkWorkload } from '../client/workload.ts'
import type { Case } from './case.ts'
import { type ServiceConfiguration, usualService } from './configuration.ts'

const postmark: PostmarkWorkload = {
  kind: 'postmark',
  workers: 1,
  thinkMs: 2,
  directories: 8,
  files: 220,
  fileBytes: { least: 500, most: 9770 },
}

const configured: ServiceConfiguration = {
  ...usualService,
  metadataServer: {
    ...usualService.metadataServer,
    distribution: { scheme: 'replication', data: 1, parity: 1 },
  },
}

export const mdsConfig: Case = {
  name: 'mds-config',
  description:
    'Lines went missing in a configuration file: the metadata server no longer writes its ' +
    'metadata to the storage node that is there for it, in two copies, but to the data storage ' +
    'node, as two stripes and their parity (thesis 3.3.1).',
  before: { service: configured, workload: postmark },
  after: {
    service: {
      ...configured,
      metadataServer: {
        ...configured.metadataServer,
        metadataNode: 'storage-data',
        distribution: { scheme: 'erasure', data: 2, parity: 1 },
      },
    },
    workload: postmark,
  },
  truth: {
    kind: 'structural',
    cause: {
      service: 'mds',
      operation: ['SN READ', 'SN WRITE'],
      mechanism:
        'The pages of the directories are read from and written to storage-data, not ' +
        'storage-meta; a page is two reads and three writes at a time, not one and two.',
      parameter: { parameter: 'distribution.data', op: '>', value: 1 },
    },
    affected: { span: { service: 'mds', operation: ['SN READ', 'SN WRITE'] } },
    relevant: {
      kind: 'structural',
      removedNode: { service: 'storage-meta', operation: ['SN READ', 'SN WRITE'], point: 'call' },
      moreOf: { service: 'storage-data', operation: ['SN READ', 'SN WRITE'] },
    },
  },
  extent: { requests: 8000, blocks: 10, warmUp: 100 },
}
