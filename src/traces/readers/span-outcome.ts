import { memoized } from '../../core/remembered.ts'
import { GRPC_FAILURES } from '../outcomes.ts'
import type { SpanKind, SpanStatus } from '../span-traces.ts'
import { SPAN_KINDS } from '../span-traces.ts'
import { type AttributeEntry, isJsonObject, textOf } from './json-values.ts'

const MAX_KIND_LENGTH = 40
/** Names of the kinds of spans in other formats. */
const KIND_WORDS: Readonly<Record<string, SpanKind>> = {
  entry: 'server',
  request: 'server',
  requests: 'server',
  requestdata: 'server',
  apprequests: 'server',
  transaction: 'server',
  exit: 'client',
  dependency: 'client',
  dependencies: 'client',
  remotedependencydata: 'client',
  appdependencies: 'client',
  local: 'internal',
}

const kindOfWord = memoized((text: string): SpanKind | undefined => {
  const word = text.replace(/^(?:SPAN_?KIND[._]|RPC_)/i, '').toLowerCase()
  return SPAN_KINDS.find((kind) => kind === word) ?? KIND_WORDS[word]
})

/** Returns the kind that a word or number says, if it says one. */
export function kindNamed(value: unknown, internal = 1): SpanKind | undefined {
  const text = textOf(value)
  if (text.length === 1) return SPAN_KINDS[Number(text) - internal]
  return text.length > MAX_KIND_LENGTH ? undefined : kindOfWord(text)
}

const ERROR_WORDS = /^(?:error|err|failed|failure|fault|faulted|2)$/
const OK_WORDS = /^(?:ok|success|succeeded|1)$/
const HTTP_CODE = 'http.response.status_code'
const GRPC_CODE = 'rpc.grpc.status_code'

/** Returns the status that a word or code says; a code of HTTP or gRPC is an attribute, too. */
export function statusNamed(value: unknown, attributes: AttributeEntry[]): SpanStatus {
  const code = isJsonObject(value) ? value['code'] : value
  const word = textOf(code)
    .replace(/^(?:STATUS_CODE_|StatusCode\.)/i, '')
    .toLowerCase()
  if (ERROR_WORDS.test(word)) return 'error'
  if (OK_WORDS.test(word)) return 'ok'
  const number = /^\d+$/.test(word) ? Number(word) : 0
  if (number < 3) return 'unset'
  if (number < 17) attributes.push([GRPC_CODE, number])
  else if (number >= 100 && number < 600) attributes.push([HTTP_CODE, number])
  return number >= 500 || GRPC_FAILURES.includes(number) ? 'error' : 'unset'
}

/** Whether a value says yes: true, 1 or a text that does not say no. */
export function saysYes(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const text = textOf(value).toLowerCase()
  if (text === '') return undefined
  return !/^(?:false|0|no|null|none)$/.test(text)
}
