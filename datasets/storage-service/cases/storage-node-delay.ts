import type { Case } from './case.ts'
import { sfsService } from './sfs-service.ts'
import { sfsWorkload } from './sfs-workload.ts'

const STORAGE_NODES = ['storage-data', 'storage-meta']

/** The thesis's planted slowdown, `spinUs` long; `duration` is how a person says that. */
export function storageNodeDelay(spinUs: number, duration: string): Case {
  return {
    name: `delay-${duration.replace(' ', '').replace('µ', 'u')}`,
    description:
      'A code change in the storage nodes: after every disk write, and before answering, their ' +
      `write path keeps the processor busy for ${duration} (thesis 3.3.5).`,
    before: { service: sfsService, workload: sfsWorkload },
    after: {
      service: {
        ...sfsService,
        storageNodes: { ...sfsService.storageNodes, writeSpinUs: spinUs },
      },
      workload: sfsWorkload,
    },
    truth: {
      kind: 'response-time',
      cause: {
        service: STORAGE_NODES,
        operation: 'SN WRITE',
        mechanism:
          `A spin loop of ${duration} between the end of "disk write" and the reply of ` +
          '"SN WRITE". The thesis calls the edges that get slower "* -> STORAGE_NODE_RPC_REPLY".',
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
    extent: { requests: 10_000, blocks: 10, warmUp: 100 },
  }
}
