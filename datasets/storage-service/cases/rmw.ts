import type { SequentialWorkload } from '../client/workload.ts'
import type { Case } from './case.ts'
import { type ServiceConfiguration, usualService } from './configuration.ts'

const USUAL_IO_BYTES = 16384
const SMALL_IO_BYTES = 4096

/** Each record begins a block of its own, so that both periods touch the same blocks. */
const withIoBytes = (recordBytes: number): SequentialWorkload => ({
  kind: 'sequential',
  workers: 1,
  thinkMs: 2,
  directories: 4,
  recordBytes,
  strideBytes: USUAL_IO_BYTES,
  records: 64,
})

/** A front end that holds half of the file. */
const service: ServiceConfiguration = {
  ...usualService,
  frontEnd: { ...usualService.frontEnd, cacheBlocks: 32 },
}

export const rmw: Case = {
  name: 'rmw',
  description:
    'The client stops honouring the preferred I/O size of the front end: its READs and WRITEs ' +
    'drop from 16 KB, one whole block, to 4 KB, so that a WRITE to a block that is not in memory ' +
    'has to read it first: a read-modify-write (thesis 3.3.2).',
  before: { service, workload: withIoBytes(USUAL_IO_BYTES) },
  after: { service, workload: withIoBytes(SMALL_IO_BYTES) },
  truth: {
    kind: 'structural',
    cause: {
      service: 'frontend',
      operation: 'NFS3 WRITE',
      mechanism:
        'A WRITE of part of a block reads the whole block from the data storage node before it ' +
        'writes it. The requests became smaller; nothing in the service changed.',
      parameter: { parameter: 'count', op: '<=', value: SMALL_IO_BYTES },
    },
    affected: {
      root: { service: 'frontend', operation: 'NFS3 WRITE' },
      span: { service: 'storage-data', operation: 'SN READ' },
    },
    relevant: {
      kind: 'structural',
      root: { service: 'frontend', operation: 'NFS3 WRITE' },
      addedNode: { service: 'storage-data', operation: 'SN READ', point: 'call' },
    },
  },
}
