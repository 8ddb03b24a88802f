import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a server answers: JSON of an object, a text as it is, or whatever a function does. */
export type Reply =
  | {
      readonly status?: number
      readonly type?: string
      readonly headers?: object
      readonly body?: unknown
    }
  | ((response: ServerResponse) => void)

export interface Served {
  /** `127.0.0.1:port`. */
  readonly host: string
  /** Everything it was asked for, in order. */
  readonly asked: {
    readonly url: URL
    readonly headers: IncomingMessage['headers']
    readonly body: string
  }[]
}

/** Starts an HTTP server that lives as long as the test; a concurrent one has to say when it ends. */
export async function serve(
  answer: (url: URL, request: Served['asked'][number]) => Reply | Promise<Reply>,
  onFinished: typeof onTestFinished = onTestFinished,
): Promise<Served> {
  const asked: Served['asked'] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one = {
      url: new URL(request.url ?? '/', 'http://server'),
      headers: request.headers,
      body: Buffer.concat(parts).toString(),
    }
    asked.push(one)
    const reply = await answer(one.url, one)
    if (typeof reply === 'function') return reply(response)
    const { status = 200, type = 'application/json', headers = {}, body = '' } = reply
    const text =
      typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': type, ...headers }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
