import { setTimeout as pause } from 'node:timers/promises'
import type { FrontEndOperations } from '../front-end/operations.ts'
import { NO_BYTES } from '../rpc/operations.ts'
import type { RpcClient } from '../rpc/rpc-client.ts'
import { UNTRACED } from '../telemetry/untraced.ts'
import type { Period } from '../volumes/period.ts'
import { ExpectedFiles } from './expected-files.ts'
import type { Step, Steps } from './step.ts'
import { makeDirectories } from './workloads/paths.ts'

/** Sends one request after the other and checks every answer. */
export class Worker {
  readonly #frontEnd: RpcClient<FrontEndOperations>
  readonly #steps: Steps
  readonly #thinkMs: () => number
  readonly #period: Period
  readonly #headers: Record<string, string>
  readonly #mayFail: boolean
  /** It is to start when all workers of its period have sent so many requests. */
  readonly startsAfter: number
  readonly #expected = new ExpectedFiles()

  constructor(
    frontEnd: RpcClient<FrontEndOperations>,
    {
      steps,
      thinkMs,
      period,
      tenant,
      startsAfter = 0,
      mayFail = false,
    }: {
      readonly steps: Steps
      readonly thinkMs: () => number
      readonly period: Period
      readonly tenant?: string | undefined
      readonly startsAfter?: number | undefined
      readonly mayFail?: boolean | undefined
    },
  ) {
    this.#frontEnd = frontEnd
    this.#steps = steps
    this.#thinkMs = thinkMs
    this.#period = period
    this.#headers = tenant === undefined ? {} : { baggage: `tenant.id=${tenant}` }
    this.startsAfter = startsAfter
    this.#mayFail = mayFail
  }

  /** Makes the directories for all workers, untraced. */
  async makeDirectories(count: number): Promise<void> {
    for (const step of makeDirectories(count)) await this.#perform(step, UNTRACED)
  }

  /** Brings this worker's files into being, untraced. */
  async populate(): Promise<void> {
    for (const step of this.#steps.populate()) await this.#perform(step, UNTRACED)
  }

  /** Thinks, and then sends the next request of the workload. */
  async sendNext(traced: boolean): Promise<void> {
    await pause(this.#thinkMs())
    await this.#perform(this.#steps.next(), traced ? this.#headers : UNTRACED)
  }

  async #perform(step: Step, trace: Record<string, string>): Promise<void> {
    const { name } = step
    if (step.kind === 'read') {
      const { offset, count } = step
      const read = this.#send('NFS3 READ', { name, offset, count }, trace)
      const answer = await (this.#mayFail ? read.catch(refused) : read)
      if (answer !== null) this.#expected.check(name, { offset, count, bytes: answer.body })
    } else if (step.kind === 'write') {
      const { offset, count, stable } = step
      const bytes = this.#expected.write(name, offset, count)
      await this.#send('NFS3 WRITE', { name, offset, stable }, trace, bytes)
    } else if (step.kind === 'create') {
      this.#expected.create(name)
      await this.#send('NFS3 CREATE', { name }, trace)
    } else if (step.kind === 'remove') {
      this.#expected.remove(name)
      await this.#send('NFS3 REMOVE', { name }, trace)
    } else if (step.kind === 'commit') await this.#send('NFS3 COMMIT', { name }, trace)
    else if (step.kind === 'list') await this.#send('NFS3 READDIRPLUS', { name }, trace)
    else if (step.kind === 'mkdir') await this.#send('NFS3 MKDIR', { name }, trace)
    else await this.#attributes(step.kind, name, trace)
  }

  async #attributes(
    kind: 'lookup' | 'getattr',
    name: string,
    trace: Record<string, string>,
  ): Promise<void> {
    const operation = kind === 'lookup' ? 'NFS3 LOOKUP' : 'NFS3 GETATTR'
    const { result } = await this.#send(operation, { name }, trace)
    const expected = this.#expected.sizeBytes(name)
    if (result.record.sizeBytes !== expected) {
      throw new Error(`${operation} of ${name} says ${result.record.sizeBytes}, not ${expected}.`)
    }
  }

  #send<Operation extends keyof FrontEndOperations>(
    operation: Operation,
    args: FrontEndOperations[Operation]['args'],
    trace: Record<string, string>,
    body = NO_BYTES,
  ) {
    return this.#frontEnd.send(operation, args, { body, trace, period: this.#period })
  }
}

/** Takes an answer that says that a disk failed for none; anything else must not happen. */
function refused(error: Error): null {
  if (error.message.includes('EIO')) return null
  throw error
}
