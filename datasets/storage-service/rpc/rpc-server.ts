import { createServer, type Socket } from 'node:net'
import { type Attributes, context, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api'
import { log } from '../telemetry/log.ts'
import { inSpan } from '../telemetry/span.ts'
import { inPeriod } from '../volumes/period.ts'
import { encodeFrame, type Frame, FrameReader } from './frame.ts'
import { type AnswerHeader, NO_BYTES, type Operations, type RequestHeader } from './operations.ts'

export interface Call<Args> {
  readonly args: Args
  readonly body: Buffer
  /** Adds low-level parameters to the server span of this call. */
  note(attributes: Attributes): void
}

export interface Reply<Result> {
  readonly result: Result
  readonly body?: Buffer
}

export type Handlers<Service extends Operations<Service>> = {
  [Operation in keyof Service]: (
    call: Call<Service[Operation]['args']>,
  ) => Promise<Reply<Service[Operation]['result']>>
}

type AnyHandler = (call: Call<object>) => Promise<Reply<object>>

/** Answers calls on a free port of this machine, each inside a server span; returns the port. */
export function serve<Service extends Operations<Service>>(
  handlers: Handlers<Service>,
): Promise<number> {
  const byName = new Map(Object.entries(handlers)) as Map<string, AnyHandler>
  const server = createServer((socket) => {
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    const reader = new FrameReader<RequestHeader>()
    socket.on('data', (chunk) => {
      for (const frame of reader.push(chunk)) void answer(socket, byName, frame)
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') {
        reject(new Error(`Listening gave the address ${address}, not a TCP port.`))
      } else resolve(address.port)
    })
  })
}

async function answer(
  socket: Socket,
  handlers: Map<string, AnyHandler>,
  { header, body }: Frame<RequestHeader>,
): Promise<void> {
  const { id, operation, args } = header
  const respond = (answerHeader: AnswerHeader, bytes = NO_BYTES) =>
    socket.destroyed || socket.write(encodeFrame({ header: answerHeader, body: bytes }))
  try {
    const handler = handlers.get(operation)
    if (handler === undefined) {
      throw new Error(`No operation ${operation} here; there are ${[...handlers.keys()]}.`)
    }
    const parent = propagation.extract(inPeriod(ROOT_CONTEXT, header.period), header.trace)
    const carried = propagation.getBaggage(parent)?.getAllEntries() ?? []
    const attributes = Object.fromEntries(carried.map(([key, { value }]) => [key, value]))
    const reply = await context.with(parent, () =>
      inSpan(
        operation,
        (span) => {
          log('info', 'Server', `${operation} with ${body.length} bytes`)
          return handler({ args, body, note: (attributes) => span.setAttributes(attributes) })
        },
        { kind: SpanKind.SERVER, attributes },
      ),
    )
    respond({ id, result: reply.result }, reply.body)
  } catch (error) {
    respond({ id, error: error instanceof Error ? error.message : String(error) })
  }
}
