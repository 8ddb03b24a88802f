import { setTimeout as delay } from 'node:timers/promises'
import { FlowdeltaError, show } from '../../core/errors.ts'
import { count, number, optionalText } from '../../core/options.ts'
import { beginning, counted } from '../../core/words.ts'
import { parsedJson } from '../readers/json-values.ts'
import type { StoreLocation } from './store.ts'

/** Parameters of every store that is asked over HTTP. */
export const HTTP_PARAMETERS = {
  tenant: optionalText('Tenant to read traces of'),
  limit: count({
    default: 500,
    sentence:
      'Maximum number of traces in one answer; a time range that reaches it is split in half',
  }),
  timeout: number({
    default: 60,
    min: 0.001,
    unit: 's',
    sentence: 'Silence after which an answer is requested again',
  }),
  tries: count({
    default: 5,
    sentence: 'Number of tries when a server is busy, fails or breaks off, with doubling waits',
  }),
} as const

interface HttpOptions extends StoreLocation {
  readonly tenant: string | null
  readonly timeout: number
  readonly tries: number
}

/** Answer of a server: `null` for a 404. */
export type Answer = { readonly bytes: Uint8Array; readonly url: string } | null

const ASK_LESS =
  'Ask for less at once with the parameter limit, or wait longer with timeout and tries.'
const WAIT = 'Look at the server, or wait longer with the parameter tries.'
const LOOK_THERE = 'Check host and port, and whether the server runs.'
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 60_000
/** Statuses of servers that may answer the next time. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504])

/** Something that went wrong and may go right the next time. */
class PassingFailure extends FlowdeltaError {
  readonly next: string
  readonly pauseMs: number | undefined

  constructor(problem: string, next: string, pauseMs?: number) {
    super(problem)
    this.next = next
    this.pauseMs = pauseMs
  }
}

/**
 * A server that is asked over HTTP. Tokens and passwords come from the environment
 * (`FLOWDELTA_TEMPO_TOKEN` for a bearer token of kind `tempo`) or the address, and are in no message.
 */
export class HttpServer {
  readonly name: string
  readonly #base: URL
  readonly #headers: Record<string, string>
  readonly #secrets: readonly string[]
  readonly #options: HttpOptions
  readonly #tokenName: string
  readonly #signal: AbortSignal | null

  /** @param tenantHeader header in which a tenant is named */
  constructor(
    options: HttpOptions,
    {
      kind,
      tenantHeader,
      signal,
    }: {
      readonly kind: string
      readonly tenantHeader: string
      readonly signal: AbortSignal | null
    },
  ) {
    this.name = options.name
    this.#base = requireUrl(options, kind)
    this.#options = options
    this.#signal = signal
    this.#tokenName = `FLOWDELTA_${kind.toUpperCase()}_TOKEN`
    const token = process.env[this.#tokenName] ?? ''
    const [user, password] = [this.#base.username, this.#base.password].map(decodeURIComponent)
    this.#base.username = ''
    this.#base.password = ''
    const basic = user ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : ''
    const authorization = token === '' ? basic : `Bearer ${token}`
    this.#secrets = [token, password ?? '', authorization].filter((secret) => secret !== '')
    this.#headers = {
      accept: 'application/json',
      ...(authorization !== '' && { authorization }),
      ...(options.tenant !== null && { [tenantHeader]: options.tenant }),
    }
  }

  /**
   * Asks until there is an answer that `read` accepts, as often as `tries` says.
   *
   * @param read takes the answer in, or throws for one that is broken
   * @throws FlowdeltaError if the server refuses, or never answers well
   */
  async get<T>(
    path: string,
    parameters: Readonly<Record<string, string>> | string[][],
    read: (answer: Answer) => T | Promise<T>,
  ): Promise<T> {
    const url = new URL(this.#base)
    url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
    url.search = new URLSearchParams(parameters).toString()
    const { tries } = this.#options
    const isPassing = (failure: unknown): failure is FlowdeltaError =>
      failure instanceof FlowdeltaError && !(failure instanceof Refusal)
    return retried(async () => read(await this.#ask(url)), {
      tries,
      signal: this.#signal,
      isPassing,
    }).catch((failure) => {
      this.#signal?.throwIfAborted()
      if (!isPassing(failure)) throw failure
      const next = failure instanceof PassingFailure ? failure.next : ASK_LESS
      throw new FlowdeltaError(`${this.#said(url, failure.message)}${inARow(tries)} ${next}`)
    })
  }

  /** Returns an answer, whole; throws a `PassingFailure` where asking again may help. */
  async #ask(url: URL): Promise<Answer> {
    const silence = new AbortController()
    const stop = () => silence.abort()
    let timer = setTimeout(stop, this.#options.timeout * 1e3)
    let isAnswering = false
    const signals = [silence.signal, ...(this.#signal === null ? [] : [this.#signal])]
    try {
      const response = await fetch(url, {
        headers: this.#headers,
        signal: AbortSignal.any(signals),
      })
      isAnswering = true
      const parts: Uint8Array[] = []
      for await (const part of response.body ?? []) {
        clearTimeout(timer)
        timer = setTimeout(stop, this.#options.timeout * 1e3)
        parts.push(part as Uint8Array)
      }
      const bytes = Buffer.concat(parts)
      if (response.ok) return { bytes, url: url.href }
      if (response.status === 404) return null
      throw this.#failureOf(response, bytes, url)
    } catch (error) {
      if (error instanceof FlowdeltaError) throw error
      this.#signal?.throwIfAborted()
      if (silence.signal.aborted) {
        throw new PassingFailure(`kept silent for ${this.#options.timeout} s`, ASK_LESS)
      }
      const cause = causeOf(error)
      if (cause === 'ENOTFOUND') {
        throw new Refusal(`${this.name} is not known to the network (${cause}). ${LOOK_THERE}`)
      }
      if (isAnswering) throw new PassingFailure(`broke off amid its answer (${cause})`, ASK_LESS)
      const problem = `cannot be reached or broke off (${cause})`
      throw new PassingFailure(problem, cause === 'ECONNRESET' ? ASK_LESS : LOOK_THERE)
    } finally {
      clearTimeout(timer)
    }
  }

  #failureOf({ status, headers }: Response, bytes: Uint8Array, url: URL): Error {
    // Before it is cut: half a secret is one too.
    const text = this.#cleared(new TextDecoder().decode(bytes))
    const said = `answered with status ${status}${text.trim() === '' ? '' : `: ${beginning(text)}`}`
    if (PASSING.has(status)) {
      const isBusy = status === 429 || status === 503
      return new PassingFailure(said, isBusy ? WAIT : ASK_LESS, pauseOf(headers.get('retry-after')))
    }
    const next =
      status === 401 || status === 403
        ? `Give a token in the environment as ${this.#tokenName}, or another one.`
        : 'Check the address and its parameters.'
    return new Refusal(`${this.#said(url, said)} ${next}`)
  }

  /** Returns a sentence about an answer, without secrets that a server may repeat. */
  #said(url: URL, problem: string): string {
    const asked = `${url.pathname}${url.search}`
    return this.#cleared(`${this.name} ${problem.replace(/\.$/, '')} (asked for ${asked}).`)
  }

  #cleared(text: string): string {
    return this.#secrets.reduce((cleared, secret) => cleared.replaceAll(secret, '…'), text)
  }
}

/** Tries until it succeeds, or a failure would be there the next time, waiting twice as long each time; throws the last. */
export async function retried<T>(
  attempt: () => Promise<T>,
  {
    tries,
    signal,
    isPassing,
  }: { tries: number; signal: AbortSignal | null; isPassing: (failure: unknown) => boolean },
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt()
    } catch (failure) {
      signal?.throwIfAborted()
      if (tried === tries || !isPassing(failure)) throw failure
      const { pauseMs = FIRST_PAUSE_MS * 2 ** (tried - 1) } = failure as Partial<PassingFailure>
      await delay(
        Math.min(pauseMs, MAX_PAUSE_MS),
        undefined,
        signal === null ? {} : { signal },
      ).catch(() => signal?.throwIfAborted())
    }
  }
}

/** Says how often something went wrong; empty for a single time. */
export function inARow(tries: number): string {
  return tries === 1 ? '' : ` This happened ${counted(tries, 'time')} in a row.`
}

/** An answer that asking again will not change. */
class Refusal extends FlowdeltaError {}

/** Returns the error for a server that does not know the requested resource. */
export function notThere({ name }: { readonly name: string }, kind: string, what: string): Refusal {
  return new Refusal(
    `${name} has no ${what} (status 404): this may not be the address of ${kind}. Check host, port and prefix.`,
  )
}

/** Returns the URL of a server; @throws FlowdeltaError for an invalid one */
export function requireUrl({ location, name }: StoreLocation, kind: string): URL {
  const url = URL.canParse(location) ? new URL(location) : undefined
  if (/%(?![0-9a-f]{2})/i.test(`${url?.username}${url?.password}`)) {
    throw new FlowdeltaError(`${name}: write % in a user or a password as %25.`)
  }
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw new FlowdeltaError(
    `${show(name)} is no address of a server. Write ${kind}://host:port, or ${kind}=https://host/path.`,
  )
}

/** Returns how long a server asks to wait, in ms. */
function pauseOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1e3
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

function causeOf(error: unknown): string {
  const { code, message } = ((error as { cause?: unknown }).cause ?? error) as NodeJS.ErrnoException
  return code ?? message
}

/** Parses an answer that is one JSON object; throws for one that is not. */
export function jsonOf({ bytes }: Exclude<Answer, null>): Readonly<Record<string, unknown>> {
  const text = new TextDecoder().decode(bytes)
  const value = parsedJson(text)
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new FlowdeltaError(notJson(text))
}

/** Describes an answer that should be JSON and is not. */
export function notJson(text: string): string {
  if (text.trim() === '') return 'answered with nothing'
  const isPage = /^\s*<(!doctype|html|head|body)/i.test(text)
  const is = isPage ? 'a web page, perhaps a login,' : 'something that is not JSON, or is cut,'
  return `answered with ${is} which begins ${beginning(text)}`
}
