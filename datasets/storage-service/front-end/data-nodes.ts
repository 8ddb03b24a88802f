import { NO_BYTES } from '../rpc/operations.ts'
import { RpcClient } from '../rpc/rpc-client.ts'
import type { StorageNodeOperations } from '../storage-node/operations.ts'

/** The storage node that holds the data of files, or several that hold the same. */
export type DataNode = Pick<RpcClient<StorageNodeOperations>, 'call'>

/** The data storage nodes that there are. */
export class DataNodes {
  readonly #nodes: ReadonlyMap<string, RpcClient<StorageNodeOperations>>

  constructor(ports: Readonly<Record<string, number>>) {
    this.#nodes = new Map(
      Object.entries(ports).map(([name, port]) => [name, new RpcClient('storage-data', port)]),
    )
  }

  /** Several nodes as one: reads take turns, whatever changes something goes to all at the same time. */
  replicas(names: readonly string[]): DataNode {
    const nodes = names.map((name) => this.#named(name))
    let reads = 0
    return {
      async call(operation, args, body = NO_BYTES) {
        const asked = operation === 'SN READ' ? [nodes[reads++ % nodes.length]] : nodes
        const answers = await Promise.all(asked.map((node) => node?.call(operation, args, body)))
        const [answer] = answers
        if (answer === undefined)
          throw new Error('The front end has no data storage node: name one.')
        return answer
      },
    }
  }

  #named(name: string): RpcClient<StorageNodeOperations> {
    const node = this.#nodes.get(name)
    if (node !== undefined) return node
    const known = [...this.#nodes.keys()].join(', ')
    throw new Error(`There is no data storage node ${name}. There are: ${known}.`)
  }
}
