// One tslab kernel, spoken to over the Jupyter protocol without Jupyter or Python.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Dealer, Subscriber } from 'zeromq'
import { decodeMessage, encodeMessage } from './wire.mjs'

const END_WITH_PARENT = fileURLToPath(new URL('end-with-parent.cjs', import.meta.url))

const CHANNELS = ['shell', 'iopub', 'stdin', 'control', 'hb']

/** @typedef {import('./wire.mjs').Message} Message */

/**
 * @typedef {object} Kernel
 * @property {(code: string, timeoutMs: number) => Promise<{ status: string, messages: Message[] }>} execute
 *   runs a cell; `messages` are what it published
 * @property {(type: string, content: object, timeoutMs: number) => Promise<{ content: Record<string, any> | undefined, messages: Message[] }>} ask
 *   sends a request such as `complete_request`; `content` is that of its reply, if one came in time
 * @property {() => Message[]} late messages published since the last cell ended
 * @property {() => void} interrupt sends what Jupyter sends when its user interrupts a cell
 * @property {() => string} log what the kernel process itself printed
 * @property {() => Promise<void>} stop ends the process; harmless when repeated
 */

/**
 * Starts the kernel the kernelspec in `kernelspec` describes.
 *
 * @param {{ kernelspec: string, cwd: string, env?: Record<string, string>, timeoutMs?: number }} options
 * @returns {Promise<Kernel>}
 */
export async function startKernel({ kernelspec, cwd, env = {}, timeoutMs = 30_000 }) {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-kernel-'))
  const connection = await connectionInfo(folder)
  const connectionFile = join(folder, 'connection.json')
  writeFileSync(connectionFile, JSON.stringify(connection))
  const child = spawnKernel(kernelspec, connectionFile, cwd, env)
  const session = new Session(connection, child, folder)
  try {
    await session.connect(timeoutMs)
    return session
  } catch (error) {
    await session.stop()
    throw error
  }
}

/** @param {string} folder */
async function connectionInfo(folder) {
  const sockets = process.platform !== 'win32'
  const ports = sockets ? CHANNELS.map((_, index) => index + 1) : await freePorts(CHANNELS.length)
  return {
    transport: sockets ? 'ipc' : 'tcp',
    ip: sockets ? join(folder, 'socket') : '127.0.0.1',
    key: randomUUID(),
    signature_scheme: 'hmac-sha256',
    ...Object.fromEntries(CHANNELS.map((name, index) => [`${name}_port`, ports[index]])),
  }
}

/**
 * @param {number} count
 * @returns {Promise<number[]>}
 */
async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer()
      return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
    }),
  )
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  return ports
}

/**
 * @param {string} kernelspec
 * @param {string} connectionFile
 * @param {string} cwd
 * @param {Record<string, string>} env
 */
function spawnKernel(kernelspec, connectionFile, cwd, env) {
  const { argv } = JSON.parse(readFileSync(join(kernelspec, 'kernel.json'), 'utf8'))
  const [, ...args] = argv.map((/** @type {string} */ arg) =>
    arg.replace('{resource_dir}', kernelspec).replace('{connection_file}', connectionFile),
  )
  return spawn(process.execPath, ['--require', END_WITH_PARENT, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** @implements {Kernel} */
class Session {
  #connection
  #child
  #folder
  #shell = new Dealer({ linger: 0 })
  #iopub = new Subscriber({ linger: 0 })
  /** @type {Message[]} */
  #published = []
  /** @type {Message[]} */
  #replies = []
  #output = ''
  #exited = false
  /** Called whenever something has arrived or the kernel has ended. */
  #wake = () => {}

  /**
   * @param {Record<string, any>} connection
   * @param {import('node:child_process').ChildProcess} child
   * @param {string} folder
   */
  constructor(connection, child, folder) {
    this.#connection = connection
    this.#child = child
    this.#folder = folder
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => {
        this.#output += data
      })
    }
    const ended = () => {
      this.#exited = true
      this.#wake()
    }
    child.once('exit', ended)
    child.once('error', (error) => {
      this.#output += `${error.message}\n`
      ended()
    })
    process.once('exit', this.#kill)
  }

  #kill = () => void this.#child.kill('SIGKILL')

  /** @param {number} timeoutMs */
  async connect(timeoutMs) {
    this.#iopub.connect(this.#address('iopub'))
    this.#iopub.subscribe()
    this.#shell.connect(this.#address('shell'))
    void this.#collect(this.#shell, this.#replies)
    void this.#collect(this.#iopub, this.#published)
    const deadline = Date.now() + timeoutMs
    // A subscription made just before the kernel binds is lost; ask until an answer is published.
    while (this.#published.length === 0) {
      await this.#send('kernel_info_request', {})
      await this.#until(() => this.#published.length > 0, Math.min(deadline, Date.now() + 250))
      if (this.#exited) throw new Error(`The tslab kernel ended at once.\n${this.#output}`)
      if (Date.now() > deadline)
        throw new Error(`The tslab kernel does not answer.\n${this.#output}`)
    }
  }

  /**
   * @param {string} code
   * @param {number} timeoutMs
   */
  async execute(code, timeoutMs) {
    const request = { code, silent: false, store_history: true }
    const { content, messages } = await this.ask('execute_request', request, timeoutMs)
    if (content !== undefined) return { status: String(content.status), messages }
    return { status: this.#exited ? 'died' : 'timeout', messages }
  }

  /**
   * @param {string} type
   * @param {object} request
   * @param {number} timeoutMs
   */
  async ask(type, request, timeoutMs) {
    const id = await this.#send(type, request)
    const replied = () => this.#replies.find((reply) => reply.parent_header.msg_id === id)
    const idle = () => this.#published.some((message) => isIdle(message, id))
    const done = await this.#until(() => replied() && idle(), Date.now() + timeoutMs)
    return { content: done ? replied()?.content : undefined, messages: this.#published.splice(0) }
  }

  late() {
    return this.#published.splice(0)
  }

  log() {
    return this.#output
  }

  interrupt() {
    this.#child.kill('SIGINT')
  }

  async stop() {
    process.removeListener('exit', this.#kill)
    if (!this.#exited) {
      const exit = new Promise((resolve) => this.#child.once('exit', resolve))
      this.#kill()
      await exit
    }
    this.#shell.close()
    this.#iopub.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** @param {string} channel */
  #address(channel) {
    const { transport, ip, [`${channel}_port`]: port } = this.#connection
    return `${transport}://${ip}:${port}`
  }

  /**
   * @param {string} type
   * @param {object} content
   */
  async #send(type, content) {
    const { id, frames } = encodeMessage(this.#connection.key, type, content)
    await this.#shell.send(frames)
    return id
  }

  /**
   * @param {AsyncIterable<Buffer[]>} socket
   * @param {Message[]} into
   */
  async #collect(socket, into) {
    for await (const frames of socket) {
      into.push(decodeMessage(this.#connection.key, frames))
      this.#wake()
    }
  }

  /**
   * @param {() => unknown} condition
   * @param {number} deadline
   */
  async #until(condition, deadline) {
    while (!condition()) {
      const left = deadline - Date.now()
      if (left <= 0 || this.#exited) return false
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve(undefined)
        }
      })
    }
    return true
  }
}

/**
 * @param {Message} message
 * @param {string} id
 */
function isIdle({ header, parent_header, content }, id) {
  return (
    header.msg_type === 'status' &&
    parent_header.msg_id === id &&
    content.execution_state === 'idle'
  )
}
