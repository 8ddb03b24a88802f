/** Opens files in pages, by `fetch`: stands in there for `open-file.ts`. */
import { FlowdeltaError, TraceFormatError } from '../../core/errors.ts'

async function fetched(path: string | URL, method: 'GET' | 'HEAD'): Promise<Response> {
  const answer = await fetch(path, { method }).catch((error: unknown) => String(error))
  if (typeof answer !== 'string' && answer.ok) return answer
  const problem = typeof answer === 'string' ? answer : `status ${answer.status}`
  throw new FlowdeltaError(`${path} cannot be fetched (${problem}). Check the address.`)
}

/** Returns the size in bytes as the server says it, 0 where it does not. */
export async function fileSize(path: string | URL): Promise<number> {
  return Number((await fetched(path, 'HEAD')).headers.get('content-length') ?? 0)
}

/** Returns the size of a file, at least 1 if it exists: servers may not tell its size. */
export function fileBytes(path: string): Promise<number> {
  return fileSize(path).then(
    (bytes) => bytes || 1,
    () => 0,
  )
}

export async function* fileChunks(path: string | URL): AsyncGenerator<Uint8Array> {
  yield* chunksOf((await fetched(path, 'GET')).body)
}

export async function* gunzip(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  const zipped = new ReadableStream<BufferSource>({
    async pull(stream) {
      const { done, value } = await iterator.next()
      if (done) stream.close()
      else stream.enqueue(value.slice())
    },
  })
  try {
    yield* chunksOf(zipped.pipeThrough(new DecompressionStream('gzip')))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new TraceFormatError(
      `The gzip file is damaged or truncated (${error.message})`,
      { file },
      'Copy or download it again',
    )
  }
}

/** Yields the chunks of a stream: not every browser can loop over it. */
async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = stream?.getReader()
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    yield next.value
  }
}

/** Stands in for listing a folder: the web has none. */
export function namesWithin(_path: string | URL): Promise<readonly string[] | undefined> {
  return Promise.resolve(undefined)
}

export function filesBelow(_path: string | URL): Promise<string[] | undefined> {
  return Promise.resolve(undefined)
}

export function hasWorker(): boolean {
  return false
}

export function readInWorker(): Promise<undefined> {
  return Promise.resolve(undefined)
}
