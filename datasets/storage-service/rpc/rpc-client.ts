import { connect, type Socket } from 'node:net'
import { context, propagation, SpanKind } from '@opentelemetry/api'
import { inSpan } from '../telemetry/span.ts'
import { type Period, periodOf } from '../volumes/period.ts'
import { encodeFrame, type Frame, FrameReader } from './frame.ts'
import { type AnswerHeader, NO_BYTES, type Operations } from './operations.ts'

interface Waiting {
  resolve(frame: Frame<AnswerHeader>): void
  reject(error: Error): void
}

interface SendOptions {
  readonly body?: Buffer
  readonly trace?: Record<string, string>
  readonly period?: Period
}

/** Calls one service over one connection; many calls may be under way at once. */
export class RpcClient<Service extends Operations<Service>> {
  readonly #peer: string
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(peer: string, port: number) {
    this.#peer = peer
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const reader = new FrameReader<AnswerHeader>()
    this.#socket.on('data', (chunk) => {
      for (const frame of reader.push(chunk)) this.#settle(frame)
    })
    this.#socket.on('error', (error) => this.#abandon(error.message))
    this.#socket.on('close', () => this.#abandon('the connection was closed'))
  }

  /** Calls inside a client span that carries the trace context over to the peer. */
  call<Operation extends keyof Service & string>(
    operation: Operation,
    args: Service[Operation]['args'],
    body: Buffer = NO_BYTES,
  ): Promise<{ result: Service[Operation]['result']; body: Buffer }> {
    return inSpan(operation, () => this.send(operation, args, { body, trace: activeTrace() }), {
      kind: SpanKind.CLIENT,
      attributes: { 'peer.service': this.#peer },
    })
  }

  /** Calls without a span, with the trace context given, for the period given. */
  async send<Operation extends keyof Service & string>(
    operation: Operation,
    args: Service[Operation]['args'],
    { body = NO_BYTES, trace = {}, period = periodOf() }: SendOptions = {},
  ): Promise<{ result: Service[Operation]['result']; body: Buffer }> {
    const id = ++this.#lastId
    const frame = await new Promise<Frame<AnswerHeader>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#socket.write(encodeFrame({ header: { id, operation, args, trace, period }, body }))
    })
    if ('error' in frame.header) {
      throw new Error(`${this.#peer} refused ${operation}: ${frame.header.error}`)
    }
    return { result: frame.header.result, body: frame.body }
  }

  close(): void {
    this.#socket.destroy()
  }

  #settle(frame: Frame<AnswerHeader>): void {
    this.#waiting.get(frame.header.id)?.resolve(frame)
    this.#waiting.delete(frame.header.id)
  }

  #abandon(why: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(`${this.#peer}: ${why}.`))
    this.#waiting.clear()
  }
}

function activeTrace(): Record<string, string> {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return carrier
}
