import type { RandomSource } from '../../src/stats/random.ts'
import type { WriteGraph } from './block-write.ts'

const RPC_US = 250
const WORK_US = 40
const READ_US = 4000

/** A read of a block from one of the machines: eight trace points one after the other. */
export function blockRead(machines: readonly string[], random: RandomSource): WriteGraph {
  const client = `${machines[0]}__client__`
  const datanode = `${machines[random.integer(machines.length)]}__datanode__`
  return line([
    [`${client}READ_BLOCK_CALL`, 0],
    [`${client}LOCATE_CALL`, WORK_US],
    ['nn__namenode__LOCATE_RECEIVED', RPC_US],
    ['nn__namenode__LOCATE_REPLY', WORK_US],
    [`${client}LOCATE_REPLY_RECEIVED`, RPC_US],
    [`${datanode}READ_RECEIVED`, RPC_US],
    [`${datanode}BLOCK_SENT`, READ_US],
    [`${client}READ_BLOCK_REPLY`, RPC_US],
  ])
}

/** A look-up of a file at the namenode: four trace points. */
export function fileLookup(machines: readonly string[]): WriteGraph {
  const client = `${machines[0]}__client__`
  return line([
    [`${client}LOOK_UP_CALL`, 0],
    ['nn__namenode__LOOK_UP_RECEIVED', RPC_US],
    ['nn__namenode__LOOK_UP_REPLY', WORK_US],
    [`${client}LOOK_UP_REPLY_RECEIVED`, RPC_US],
  ])
}

function line(points: readonly (readonly [label: string, us: number])[]): WriteGraph {
  return {
    labels: points.map(([label]) => label),
    from: Uint32Array.from(points.slice(1), (_, i) => i),
    to: Uint32Array.from(points.slice(1), (_, i) => i + 1),
    typicalUs: Float64Array.from(points.slice(1), ([, us]) => us),
  }
}
