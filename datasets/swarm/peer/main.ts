import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { answerControl } from '../../storage-service/control/answer-control.ts'
import { Peer, type PeerSetup } from './peer.ts'
import { pieceContent } from './pieces.ts'

/** Where to listen, and what will be downloaded. */
export interface Preparation {
  readonly address: string
  readonly pieces: number
  readonly pieceBytes: number
}

let contents: readonly Uint8Array[] = []
/** Connections of peers that were told to run a moment earlier. */
const early: Socket[] = []
let accept = (socket: Socket) => {
  early.push(socket)
}
const server = createServer({ noDelay: true }, (socket) => accept(socket))

answerControl(0, {
  /** Listens on a free port, and resolves to it. */
  prepare: async ({ address, pieces, pieceBytes }: Preparation) => {
    contents = Array.from({ length: pieces }, (_, piece) => pieceContent(piece, pieceBytes))
    server.listen(0, address)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  },
  run: (setup: PeerSetup) => {
    const peer = new Peer(setup, contents)
    const failed = new Promise<never>((_, reject) => {
      accept = (socket) => void peer.accept(socket).catch(reject)
    })
    const complete = peer.run()
    early.forEach(accept)
    return Promise.race([complete, failed])
  },
})
