import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Command, Report } from './messages.ts'

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

const STDERR_KEPT = 4000
/** Folder that entries given as text are relative to. */
const SERVICE = new URL('../', import.meta.url)
/** Megabytes for new objects: room for many requests between two garbage collections. */
const NURSERY = '--max-semi-space-size=64'

/** A process of the service, as the recorder sees it. */
export class ManagedProcess {
  readonly name: string
  /** Called with the number of requests a `run` command has finished so far. */
  onProgress: (requests: number) => void = () => {}
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly #port: Promise<number>
  #announce: Waiting | undefined
  #lastId = 0
  #stderr = ''

  /** Starts `entry` (relative to the service's folder) with `launch` as its argument. */
  constructor(name: string, entry: string | URL, launch: object) {
    this.name = name
    this.#child = fork(fileURLToPath(new URL(entry, SERVICE)), [JSON.stringify(launch)], {
      execArgv: [NURSERY, '--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#port = new Promise((resolve, reject) => {
      this.#announce = { resolve: resolve as (port: unknown) => void, reject }
    })
    this.#port.catch(() => {})
    this.#child.stderr?.on('data', (chunk) => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-STDERR_KEPT)
    })
    this.#child.on('message', (report) => this.#hear(report as Report))
    this.#child.on('error', (error) => this.#abandon(error.message))
    this.#child.on('exit', (code, signal) => this.#abandon(`ended by ${signal ?? `code ${code}`}`))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves, once the process is ready, to the port it answers on. */
  ready(): Promise<number> {
    return this.#port
  }

  command(name: string, payload: unknown): Promise<unknown> {
    const id = ++this.#lastId
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.#child.send({ id, name, payload } satisfies Command, (error) => {
      if (error) this.#abandon(error.message)
    })
    return answer
  }

  /** Ends the process and waits until it is gone. */
  async stop(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }

  #hear(report: Report): void {
    if (report.kind === 'ready') this.#announce?.resolve(report.port)
    else if (report.kind === 'progress') this.onProgress(report.requests)
    else {
      const waiting = this.#waiting.get(report.id)
      this.#waiting.delete(report.id)
      if (report.kind === 'done') waiting?.resolve(report.result)
      else waiting?.reject(new Error(`${this.name}: ${report.error}`))
    }
  }

  #abandon(why: string): void {
    const error = new Error(`The process ${this.name} ${why}. Its last words:\n${this.#stderr}`)
    this.#announce?.reject(error)
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
