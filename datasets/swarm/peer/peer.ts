import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { memoryUsage } from 'node:process'
import { seededRandom } from '../../storage-service/random.ts'
import type { LogMessage } from '../../storage-service-logs/log-lines.ts'
import { MessageLog } from '../../storage-service-logs/message-log.ts'
import { monotonicUs } from '../../storage-service-logs/monotonic-us.ts'
import { type Endpoint, type PeerIdentity, PeerSet } from './peer-set.ts'
import { Pieces } from './pieces.ts'
import { Traffic } from './traffic.ts'
import { UploadSlot } from './upload-slot.ts'
import { encode, messagesFrom, type PeerMessage } from './wire.ts'

/** What a peer is told before it starts. */
export interface PeerSetup {
  readonly seed: string
  readonly self: Endpoint
  readonly seeder: boolean
  readonly identity: PeerIdentity
  readonly toConnect: readonly Endpoint[]
  /** Upload limit of each connection. */
  readonly bytesPerSecond: number
  readonly portMappedMs: number
  readonly tableNodes: number
}

interface Neighbour {
  readonly socket: Socket
  readonly has: Uint8Array
  readonly slot: UploadSlot
  /** Whether a piece has been asked for and has not come. */
  awaiting: boolean
}

const STATE_MS = 200
/** The table changes slowly and is logged with every so-manieth state. */
const TABLE_EVERY = 4

/** A peer of a swarm: downloads what it lacks, the rarest first, and uploads what it has. */
export class Peer {
  readonly #setup: PeerSetup
  readonly #set: PeerSet
  readonly #pieces: Pieces
  readonly #contents: readonly Uint8Array[]
  readonly #neighbours = new Set<Neighbour>()
  readonly #traffic = new Traffic()
  readonly #log = new MessageLog()
  #resolve: (messages: readonly LogMessage[]) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  /** `contents` of all pieces, to compare what comes with, and to upload once it is had. */
  constructor(setup: PeerSetup, contents: readonly Uint8Array[]) {
    const { seeder, seed, identity } = setup
    this.#setup = setup
    this.#set = new PeerSet(identity)
    this.#pieces = new Pieces(contents.length, seeder, seededRandom(seed))
    this.#contents = contents
  }

  /** Resolves to the log when the download is complete; a seeder's is so at once. */
  run(): Promise<readonly LogMessage[]> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#startTimers()
      if (this.#setup.seeder) this.#finish()
      this.#connectToAll().catch(reject)
    })
  }

  /** Takes a connection that another peer made. */
  async accept(socket: Socket): Promise<void> {
    await this.#talk(socket, monotonicUs())
  }

  async #connectToAll(): Promise<void> {
    for (const endpoint of this.#setup.toConnect) {
      if (!this.#set.add(endpoint)) continue
      const { address, port } = endpoint
      const localAddress = this.#setup.self.address
      const socket = createConnection({ host: address, port, localAddress, noDelay: true })
      await once(socket, 'connect')
      const connectedUs = monotonicUs()
      socket.write(this.#handshake())
      this.#talk(socket, connectedUs, endpoint).catch(this.#reject)
    }
  }

  #handshake(): Buffer {
    const { had } = this.#pieces
    return encode({ kind: 'handshake', number: this.#setup.self.port, bytes: had })
  }

  /** Says and hears all there is on a connection, until it ends. `dialled` is whom we connected to. */
  async #talk(socket: Socket, connectedUs: number, dialled?: Endpoint): Promise<void> {
    let neighbour: Neighbour | undefined
    for await (const message of messagesFrom(socket)) {
      if (neighbour !== undefined) this.#hear(message, neighbour)
      else if (dialled === undefined && !this.#welcome(socket, message)) return
      else {
        // A connection that one of the two did not want is not logged.
        this.#log.event('connect', connectedUs)
        neighbour = this.#meet(socket, message)
      }
    }
    if (neighbour === undefined && dialled !== undefined) this.#set.remove(dialled)
  }

  /** Answers a handshake, unless its sender is taken for somebody we are connected to. */
  #welcome(socket: Socket, { number: port }: PeerMessage): boolean {
    const address = socket.remoteAddress
    if (address === undefined || !this.#set.add({ address, port })) return false
    socket.write(this.#handshake())
    return true
  }

  #meet(socket: Socket, { bytes = new Uint8Array(0) }: PeerMessage): Neighbour {
    this.#log.event('handshake')
    const slot = new UploadSlot(this.#setup.bytesPerSecond)
    const neighbour = { socket, has: Uint8Array.from(bytes), slot, awaiting: false }
    this.#neighbours.add(neighbour)
    for (const [piece, had] of neighbour.has.entries()) if (had === 1) this.#pieces.seen(piece)
    // What came while the handshake was under way was not in it.
    for (const [piece, had] of this.#pieces.had.entries()) {
      if (had === 1) socket.write(encode({ kind: 'have', number: piece }))
    }
    this.#ask(neighbour)
    return neighbour
  }

  #hear({ kind, number, bytes }: PeerMessage, neighbour: Neighbour): void {
    if (kind === 'have') {
      if (neighbour.has[number] !== 1) this.#pieces.seen(number)
      neighbour.has[number] = 1
      this.#ask(neighbour)
    } else if (kind === 'request') {
      this.#upload(number, neighbour).catch(this.#reject)
    } else if (kind === 'piece' && bytes !== undefined) {
      neighbour.awaiting = false
      this.#receive(number, bytes)
      this.#ask(neighbour)
    }
  }

  #ask(neighbour: Neighbour): void {
    if (neighbour.awaiting) return
    const piece = this.#pieces.await(neighbour.has)
    if (piece === undefined) return
    neighbour.awaiting = true
    neighbour.socket.write(encode({ kind: 'request', number: piece }))
  }

  async #upload(piece: number, { slot, socket }: Neighbour): Promise<void> {
    const bytes = this.#contents[piece]
    if (bytes === undefined) throw new Error(`A peer asks for piece ${piece}, which is none.`)
    await slot.take(bytes.length)
    this.#traffic.uploaded(bytes.length)
    socket.write(encode({ kind: 'piece', number: piece, bytes }))
  }

  #receive(piece: number, bytes: Uint8Array): void {
    if (Buffer.compare(bytes, this.#contents[piece] ?? new Uint8Array(0)) !== 0) {
      throw new Error(`Piece ${piece} has arrived with other content than it was sent with.`)
    }
    this.#log.event('recv_piece')
    this.#traffic.downloaded(bytes.length)
    this.#pieces.received(piece)
    for (const { socket } of this.#neighbours) socket.write(encode({ kind: 'have', number: piece }))
    this.#log.event('sent_have')
    if (this.#pieces.complete) this.#finish()
  }

  #finish(): void {
    this.#log.event('finish')
    this.#resolve([...this.#log.messages])
  }

  #startTimers(): void {
    const { portMappedMs, tableNodes } = this.#setup
    setTimeout(() => this.#log.event('port_mapped'), portMappedMs)
    let logged = 0
    setInterval(() => {
      const { uploadKbps, downloadKbps } = this.#traffic.take()
      this.#log.state('peers_connected', this.#neighbours.size)
      this.#log.state('pieces_have', this.#pieces.count)
      this.#log.state('upload_speed', uploadKbps)
      this.#log.state('download_speed', downloadKbps)
      if (logged % TABLE_EVERY === 0) {
        this.#log.state('table_nodes', tableNodes + logged / TABLE_EVERY)
        this.#log.state('heap_kb', memoryUsage().heapUsed / 1024)
      }
      logged += 1
    }, STATE_MS)
  }
}
