/** Where a block is written, and how much of it. */
export interface BlockWrite {
  /** The datanodes of the pipeline, first to last; the client runs on the first one's machine. */
  readonly pipeline: readonly string[]
  /** Portions of 64 KB. */
  readonly portions: number
}

/** A write's trace points; every edge leads from a lower to a higher position. */
export interface WriteGraph {
  /** `machine__thread__POINT` of each trace point. */
  readonly labels: readonly string[]
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Typical time from one trace point to the next, µs, before waiting. */
  readonly typicalUs: Float64Array
}

// Typical times, µs: 64 KB take some 550 µs on a 1 Gbit/s network, 600 µs to a disk of 2006.
const RPC_US = 250
const WORK_US = 40
const PRODUCE_US = 300
const NETWORK_US = 550
const DISK_US = 600
const ACK_US = 60
const HAND_OVER_US = 20

/**
 * The flow of one NEW_BLOCK request, in the manner of Figure 3.6 of Sambasivan 2013: the client asks
 * the namenode for datanodes, sets the pipeline up, streams portions through it, and closes the
 * block. With R replicas there are 14 + 4R trace points around the portions, and 5R a portion: for
 * R = 3, 26 and 15, so that 41 are left when portions are collapsed into one.
 */
export function blockWrite({ pipeline, portions }: BlockWrite): WriteGraph {
  const graph = new GraphPen()
  const client = `${pipeline[0]}__client__`
  const pieces = pipeline.map((machine) => `${machine}__datanode__`)
  let tip = graph.chain(-1, [
    [`${client}NEW_BLOCK_CALL`, 0],
    [`${client}ALLOCATE_CALL`, WORK_US],
    ['nn__namenode__ALLOCATE_RECEIVED', RPC_US],
    ['nn__namenode__CHOOSE_DATANODES', WORK_US],
    ['nn__namenode__EDIT_LOG_WRITTEN', DISK_US],
    ['nn__namenode__ALLOCATE_REPLY', WORK_US],
    [`${client}ALLOCATE_REPLY_RECEIVED`, RPC_US],
    [`${client}SET_UP_PIPELINE`, WORK_US],
    ...pieces.map((datanode) => [`${datanode}SET_UP_RECEIVED`, RPC_US] as const),
    ...pieces.toReversed().map((datanode) => [`${datanode}SET_UP_REPLY`, RPC_US] as const),
    [`${client}PIPELINE_READY`, RPC_US],
  ])
  tip = streamPortions(graph, { client, pieces, portions, ready: tip })
  tip = graph.point(`${client}CLOSE_BLOCK`, [[tip, WORK_US]])
  const reported = pieces.map((datanode) => {
    const finalized = graph.point(`${datanode}BLOCK_FINALIZED`, [[tip, RPC_US]])
    return graph.point('nn__namenode__BLOCK_RECEIVED', [[finalized, RPC_US]])
  })
  tip = graph.point(
    'nn__namenode__COMPLETE',
    reported.map((report) => [report, WORK_US]),
  )
  graph.chain(tip, [
    ['nn__namenode__COMPLETE_REPLY', WORK_US],
    [`${client}BLOCK_COMPLETE`, RPC_US],
    [`${client}NEW_BLOCK_REPLY`, WORK_US],
  ])
  return graph.finish()
}

/** Trace points of one datanode for one portion. */
interface Hop {
  readonly receive: number
  readonly forward: number
  readonly write: number
}

/**
 * Portion after portion through the pipeline. The client sends them as it produces them; a datanode
 * forwards a portion once the next datanode has acknowledged the one before, and writes one at
 * a time. Gives the client's last acknowledgement.
 */
function streamPortions(
  graph: GraphPen,
  {
    client,
    pieces,
    portions,
    ready,
  }: { client: string; pieces: readonly string[]; portions: number; ready: number },
): number {
  let sent = ready
  let acknowledged = -1
  let written: readonly number[] = []
  let ackedBy: number[] = []
  for (let portion = 0; portion < portions; portion++) {
    sent = graph.point(`${client}SEND_PORTION`, [[sent, PRODUCE_US]])
    let arriving = sent
    const hops: Hop[] = pieces.map((datanode, hop) => {
      const receive = graph.point(`${datanode}RECEIVE_PORTION`, [[arriving, NETWORK_US]])
      const isLast = hop === pieces.length - 1
      const before = ackedBy[hop] ?? -1
      const forward = isLast
        ? receive
        : graph.point(`${datanode}FORWARD_PORTION`, [
            [receive, HAND_OVER_US],
            [before, HAND_OVER_US],
          ])
      const disk = written[hop] ?? -1
      const write = graph.point(`${datanode}WRITE_PORTION`, [
        [receive, DISK_US],
        [disk, DISK_US],
      ])
      arriving = forward
      return { receive, forward, write }
    })
    written = hops.map(({ write }) => write)
    ackedBy = []
    let below = -1
    for (let hop = pieces.length - 1; hop >= 0; hop--) {
      const datanode = pieces[hop] as string
      const { write } = hops[hop] as Hop
      if (below >= 0) {
        below = graph.point(`${datanode}RECEIVE_ACK`, [[below, ACK_US]])
        ackedBy[hop] = below
      }
      below = graph.point(`${datanode}SEND_ACK`, [
        [write, HAND_OVER_US],
        [below, HAND_OVER_US],
      ])
    }
    acknowledged = graph.point(`${client}PORTION_ACKNOWLEDGED`, [
      [below, ACK_US],
      [acknowledged, HAND_OVER_US],
    ])
  }
  return acknowledged
}

/** Draws trace points one after the other, each with the edges that lead to it. */
class GraphPen {
  readonly #labels: string[] = []
  readonly #from: number[] = []
  readonly #to: number[] = []
  readonly #typicalUs: number[] = []

  /** @param behind the trace points it follows, -1 for none, and the time from each, µs */
  point(label: string, behind: readonly (readonly [node: number, us: number])[]): number {
    const node = this.#labels.push(label) - 1
    for (const [before, us] of behind) {
      if (before < 0) continue
      this.#from.push(before)
      this.#to.push(node)
      this.#typicalUs.push(us)
    }
    return node
  }

  chain(start: number, points: readonly (readonly [label: string, us: number])[]): number {
    return points.reduce((tip, [label, us]) => this.point(label, [[tip, us]]), start)
  }

  finish(): WriteGraph {
    return {
      labels: this.#labels,
      from: Uint32Array.from(this.#from),
      to: Uint32Array.from(this.#to),
      typicalUs: Float64Array.from(this.#typicalUs),
    }
  }
}
