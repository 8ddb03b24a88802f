import type { Case } from './case.ts'
import { usualService } from './configuration.ts'
import { mixedWorkload } from './mixed-workload.ts'

const SPIN_US = 1000
const STORAGE_NODES = ['storage-data', 'storage-meta']

export const delay1ms: Case = {
  name: 'delay-1ms',
  description:
    'A code change in the storage nodes: after every disk write, and before answering, their ' +
    'write path keeps the processor busy for 1 ms (thesis 3.3.5).',
  before: { service: usualService, workload: mixedWorkload },
  after: {
    service: {
      ...usualService,
      storageNodes: { ...usualService.storageNodes, writeSpinUs: SPIN_US },
    },
    workload: mixedWorkload,
  },
  truth: {
    kind: 'response-time',
    cause: {
      service: STORAGE_NODES,
      operation: 'SN WRITE',
      mechanism:
        'A spin loop of 1 ms between the end of "disk write" and the reply of "SN WRITE". The ' +
        'thesis calls the edges that get slower "* -> STORAGE_NODE_RPC_REPLY".',
    },
    affected: { span: { service: STORAGE_NODES, operation: 'SN WRITE' } },
    relevant: {
      kind: 'response-time',
      changedEdge: {
        to: { service: STORAGE_NODES, operation: 'SN WRITE', point: 'reply' },
        direction: 'slower',
      },
    },
  },
}
