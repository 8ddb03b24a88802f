// Runs once a span or attribute: the loops index with `!`.
import { shortText } from '../core/words.ts'
import { PRESENCE } from './attribute-names.ts'
import type { AttributeValue } from './attributes.ts'
import { entriesWithin } from './group-rows.ts'
import { gather } from './growing-columns.ts'
import { CLIENT, SPAN_STATUSES, type SpanStatus, type SpanTraceColumns } from './span-columns.ts'

/** Outcome of spans; all spans with the same outcome share one. */
export interface Outcome {
  readonly outcome: SpanStatus
  /** `HTTP 503` or `gRPC 14` where that is no success, else empty. */
  readonly code: string
  /** Message of failing spans, with `<n>` and `<id>` for the parts that vary. */
  readonly message: string
  /** Whom a failing client span calls, where it says so. */
  readonly peer?: string
}

/** The outcomes of all spans of all requests, one byte a span. */
export class Outcomes {
  readonly kinds: readonly Outcome[]
  /** Index in `kinds` of each span, callers first, so that a request's root is its first. */
  readonly ofSpan: Uint8Array
  /** The spans of request `i` are entries `offsets[i]` to `offsets[i + 1]`. */
  readonly offsets: Uint32Array
  readonly #isError: readonly boolean[]
  readonly #isCutShort: readonly boolean[]

  constructor(kinds: readonly Outcome[], ofSpan: Uint8Array, offsets: Uint32Array) {
    this.kinds = kinds
    this.ofSpan = ofSpan
    this.offsets = offsets
    this.#isError = kinds.map(({ outcome }) => outcome === 'error')
    this.#isCutShort = kinds.map(({ code, message }) => CUT_SHORT.test(`${code}\n${message}`))
  }

  /** Returns the outcome of span `span` of a request, callers first; by default of its root, and so of the request. */
  of(request: number, span = 0): Outcome {
    return this.kinds[this.ofSpan[this.offsets[request]! + span]!]!
  }

  /** Whether span `span` of a request failed, callers first; by default its root. */
  failed(request: number, span = 0): boolean {
    return this.#isError[this.ofSpan[this.offsets[request]! + span]!]!
  }

  /** Whether span `span` of a request says that it took too long, or was cancelled. */
  wasCutShort(request: number, span: number): boolean {
    return this.#isCutShort[this.ofSpan[this.offsets[request]! + span]!]!
  }

  /** Spans of a request that failed, callers first. */
  failing(request: number): number[] {
    const failing: number[] = []
    const [start, end] = [this.offsets[request]!, this.offsets[request + 1]!]
    for (let at = start; at < end; at++) {
      if (this.#isError[this.ofSpan[at]!]) failing.push(at - start)
    }
    return failing
  }

  /** Returns the outcomes of some requests, in their order. */
  select(requests: ArrayLike<number>): Outcomes {
    const { offsets, entries } = entriesWithin(this.offsets, Uint32Array.from(requests))
    return new Outcomes(this.kinds, gather(this.ofSpan, entries), offsets)
  }

  /** Returns the outcomes of roots alone. */
  roots(): Outcomes {
    const { kinds, ofSpan, offsets } = this
    const ofRoots = Uint8Array.from(offsets.subarray(0, -1), (root) => ofSpan[root]!)
    return new Outcomes(kinds, ofRoots, Uint32Array.from(offsets.keys()))
  }
}

const CUT_SHORT = /^(?:HTTP (?:408|499|504)|gRPC [14])$|deadline|timed?[ _-]?out|cancell?ed/im

/** Attributes that say how a span ended; of messages, the best first. */
const HTTP_CODES = ['http.response.status_code', 'http.status_code']
const GRPC_CODES = ['rpc.grpc.status_code', 'grpc.status_code']
const ESCAPED = 'exception · exception.escaped'
const EXCEPTIONS = ['exception · exception.message', 'exception · exception.type']
const MESSAGES = [
  'otel.status_description',
  ...EXCEPTIONS,
  'error',
  'error · message',
  'error.message',
  'exception.message',
  'message',
  'exception.type',
  'exception',
  'error.type',
]
const READ: readonly string[] = [...HTTP_CODES, ...GRPC_CODES, ESCAPED, ...MESSAGES]

/** Attributes of client spans that say whom they call, the surest first; of URLs, the host. */
export const PEERS: readonly string[] = [
  ...['peer.service', 'server.address', 'net.peer.name', 'peer.hostname', 'http.host'],
  ...['url.full', 'http.url'],
]
const URL_HOST = /^[a-z][\w+.-]*:\/\/(?:[^/?#]*@)?([^/?#:]+|\[[^\]]*\])/i

/** Whether an attribute, or that it was recorded, says how a span ended: it is no reason that it did. */
export function saysOutcome(attribute: string): boolean {
  const name = attribute.replace(PRESENCE, '')
  return name === 'status' || READ.includes(name)
}

/** Codes that a server is to blame for. Source: OpenTelemetry semantic conventions for gRPC. */
export const GRPC_FAILURES: readonly number[] = [2, 4, 12, 13, 14, 15]

/**
 * Reads how every span ended: by status; where unset, HTTP codes from 500 on, gRPC codes a server
 * is to blame for, and uncaught exceptions are errors. Refusals such as 404 are none.
 */
export function readOutcomes(periods: readonly Pick<SpanTraceColumns, 'spans' | 'attributes'>[]): {
  readonly kinds: readonly Outcome[]
  readonly ofRows: readonly Uint8Array[]
} {
  const kinds = new OutcomeKinds()
  const ofRows = periods.map(({ spans, attributes }) => {
    const { offsets, columns } = attributes
    const names = attributes.keys.values.map((key) => (READ.includes(key) ? key : null))
    const codeOf = (status: number, first: number, end: number) => {
      const said = new Map<string, AttributeValue>()
      for (let entry = first; entry < end; entry++) {
        const name = names[columns.key[entry]!]
        if (name != null && !said.has(name)) said.set(name, attributes.valueAt(entry))
      }
      return kinds.code(SPAN_STATUSES[status]!, said)
    }
    /** Indexed by status, attribute and type, then by value: most spans have only one. */
    const known: Map<number, number>[] = []
    const outcomeOf = (status: number, span: number) => {
      const end = offsets[span + 1]!
      let [first, count] = [end, 0]
      for (let entry = offsets[span]!; entry < end; entry++) {
        if (names[columns.key[entry]!] === null) continue
        if (count++ === 0) first = entry
      }
      if (count !== 1) return count === 0 ? status : codeOf(status, first, end)
      const kind = (columns.key[first]! * 3 + columns.type[first]!) * SPAN_STATUSES.length + status
      known[kind] ??= new Map()
      const ofKind = known[kind]
      const code = ofKind.get(columns.value[first]!) ?? codeOf(status, first, end)
      if (ofKind.size < MAX_KNOWN) ofKind.set(columns.value[first]!, code)
      return code
    }
    return spans.status.map((status, span) => {
      const code = outcomeOf(status, span)
      const isFailingCall = spans.kind[span] === CLIENT && kinds.all[code]!.outcome === 'error'
      return isFailingCall ? kinds.ofCallTo(peerOf(attributes, span), code) : code
    })
  })
  return { kinds: kinds.all, ofRows }
}

function peerOf(attributes: SpanTraceColumns['attributes'], span: number): string {
  const told = PEERS.map((key) => attributes.get(span, key)).find((value) => value !== undefined)
  const text = String(told ?? '')
  return messageTemplate(URL_HOST.exec(text)?.[1] ?? text)
}

/** Most values remembered per attribute. */
const MAX_KNOWN = 1000
/** Kinds that fit a byte; what further failing spans say is left out. */
const MAX_KINDS = 250
const MAX_MESSAGE_LENGTH = 120
/** Most peers that are distinguished. */
const MAX_PEERS = 20

/** Outcomes as they are met; the first three are the statuses alone. */
class OutcomeKinds {
  readonly all: Outcome[] = SPAN_STATUSES.map((outcome) => ({ outcome, code: '', message: '' }))
  readonly #peers = new Set<string>()
  readonly #codes = new Map(this.all.map((kind, code) => [JSON.stringify(kind), code]))

  code(status: SpanStatus, said: ReadonlyMap<string, AttributeValue>): number {
    const http = codeOf(said, HTTP_CODES)
    const grpc = codeOf(said, GRPC_CODES)
    const isError =
      status === 'error' ||
      (status === 'unset' && (http >= 500 || GRPC_FAILURES.includes(grpc) || hasThrown(said)))
    const code = http >= 400 ? `HTTP ${http}` : grpc > 0 ? `gRPC ${grpc}` : ''
    const outcome = isError ? 'error' : status
    if (!isError && code === '') return SPAN_STATUSES.indexOf(status)
    const message = isError ? messageOf(said) : ''
    const known = this.#find({ outcome, code, message })
    if (known !== undefined) return known
    return this.all.length < MAX_KINDS
      ? this.#add({ outcome, code, message })
      : (this.#find({ outcome, code, message: '' }) ?? SPAN_STATUSES.indexOf(outcome))
  }

  /** Returns the outcome of a call to somebody; the outcome alone where there is no room. */
  ofCallTo(peer: string, code: number): number {
    if (peer === '' || (this.#peers.size >= MAX_PEERS && !this.#peers.has(peer))) return code
    this.#peers.add(peer)
    const kind = { ...this.all[code]!, peer }
    return this.#find(kind) ?? (this.all.length < MAX_KINDS ? this.#add(kind) : code)
  }

  #find(kind: Outcome): number | undefined {
    return this.#codes.get(JSON.stringify(kind))
  }

  #add(kind: Outcome): number {
    this.#codes.set(JSON.stringify(kind), this.all.length)
    return this.all.push(kind) - 1
  }
}

function codeOf(said: ReadonlyMap<string, AttributeValue>, names: readonly string[]): number {
  const name = names.find((one) => said.has(one))
  return name === undefined ? 0 : Number(said.get(name)) || 0
}

function hasThrown(said: ReadonlyMap<string, AttributeValue>): boolean {
  const wasCaught = /^false$/i.test(String(said.get(ESCAPED)))
  return EXCEPTIONS.some((name) => said.has(name)) && !wasCaught
}

function messageOf(said: ReadonlyMap<string, AttributeValue>): string {
  const texts = MESSAGES.map((name) => String(said.get(name) ?? '').trim())
  return messageTemplate(texts.find((text) => text !== '' && !/^(true|false)$/i.test(text)) ?? '')
}

/** Patterns of the parts that vary between messages. HTTP status codes of failures stay. */
const VARYING: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b(?=[a-f]*\d)[0-9a-f]{12,}\b/gi, '<id>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  [/(?<![\w.])(?![45]\d\d\b)\d+(?:\.\d+)?(?=(?:[µmn]?s|[kMG]?i?B)?\b)/g, '<n>'],
]

/** Returns the first line of a message, with `<id>`, `<address>` and `<n>` for the parts that vary. */
export function messageTemplate(text: string): string {
  const [line = ''] = text.split('\n', 1)
  const template = VARYING.reduce((words, [pattern, word]) => words.replace(pattern, word), line)
  return shortText(template, MAX_MESSAGE_LENGTH)
}
