import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { seededRandom } from '../storage-service/random.ts'
import type { LogMessage } from '../storage-service-logs/log-lines.ts'
import { MessageLog } from '../storage-service-logs/message-log.ts'
import { monotonicUs } from '../storage-service-logs/monotonic-us.ts'

export interface PeerSetup {
  readonly seed: string
  readonly port: number
  readonly pieces: number
  /** Period of the timer that tells interest. */
  readonly timerMs: number
  readonly portMappedMs: number
  readonly tableNodes: number
}

const PIECE = Buffer.alloc(16_384, 7)
const MIN_HAVE_MS = 4
const MORE_HAVE_MS = 8

/** A line of the wire: a word and a number; behind `piece` its bytes follow in base64. */
function onLines(socket: Socket, take: (word: string, rest: string) => void): void {
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (data: string) => {
    text += data
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const [word = '', rest = ''] = text.slice(0, end).split(' ')
      text = text.slice(end + 1)
      take(word, rest)
    }
  })
}

/** A seeder: it gets one piece after the other itself, tells of each, and uploads what it is asked for. */
export async function startSeeder(): Promise<Server> {
  const server = createServer((socket) => {
    const random = seededRandom(`${socket.remotePort}`)
    const tell = async () => {
      await wait(MIN_HAVE_MS + MORE_HAVE_MS * random.next())
      socket.write('have\n')
    }
    onLines(socket, (word) => {
      if (word === 'interested') socket.write('unchoke\n')
      else if (word === 'request') {
        socket.write(`piece ${PIECE.toString('base64')}\n`)
        void tell()
      } else void tell()
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** Downloads all pieces, and resolves to the log of it. */
export async function download(setup: PeerSetup): Promise<LogMessage[]> {
  const { seed, port, pieces, timerMs, portMappedMs, tableNodes } = setup
  const random = seededRandom(seed)
  const log = new MessageLog()
  const timers: NodeJS.Timeout[] = [setTimeout(() => log.event('port_mapped'), portMappedMs)]
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  log.event('connect')
  let heardUs = 0
  let received = 0
  // A pulse that other work shares: what it finds to do may have waited for a whole period.
  timers.push(
    setInterval(() => {
      if (heardUs === 0) return
      log.state('interest_wait_us', monotonicUs() - heardUs)
      log.event('sent_interested')
      heardUs = 0
      socket.write('interested\n')
    }, timerMs),
  )
  await new Promise<void>((resolve) => {
    onLines(socket, (word) => {
      if (word === 'have') {
        log.event('recv_have')
        heardUs = monotonicUs()
      } else if (word === 'unchoke') {
        log.event('recv_unchoke')
        socket.write('request\n')
      } else {
        log.event('recv_piece')
        if (received % 3 === 0) log.state('table_nodes', tableNodes + random.below(12))
        if (++received === pieces) resolve()
      }
    })
    socket.write('hello\n')
  })
  log.event('finish')
  for (const timer of timers) clearInterval(timer)
  socket.destroy()
  return log.messages
}
