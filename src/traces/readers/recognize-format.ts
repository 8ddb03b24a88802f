import { TraceFormatError } from '../../core/errors.ts'
import { beginning } from '../../core/words.ts'
import { delimiterOf } from './csv-rows.ts'
import { COLUMNS_HINT } from './span-layout.ts'
import type { TraceReader } from './trace-reader.ts'

export const HEAD_BYTES = 1 << 16

/** Returns the reader for a file that begins with `head`, or throws an error that says what the file is. */
export function recognizeFormat(
  head: Uint8Array,
  readers: readonly TraceReader[],
  file: string,
): TraceReader {
  const text = new TextDecoder().decode(head)
  if (text.trim() === '') throw new TraceFormatError('The file is empty', { file }, 'Leave it out')
  const byShape = readers.find((one) => one.format !== 'spans' && one.recognizes(text, head))
  if (byShape !== undefined) return byShape
  const refused = REFUSED.find(({ looksLike }) => looksLike(text, head))
  if (refused !== undefined) {
    throw new TraceFormatError(refused.reason(text), { file }, refused.nextStep)
  }
  const reader = readers.find(
    ({ format, recognizes }) => format === 'spans' && recognizes(text, head),
  )
  if (reader !== undefined) return reader
  throw new TraceFormatError(
    `This is in no known trace format; it begins ${beginning(text)}`,
    { file },
    `Known formats are ${readers.map(({ format }) => format).join(', ')}. If it is one of these, name it with \`format\`; ` +
      'Parquet is known by its name (.parquet)',
    { format: null },
  )
}

/** A kind of file that is known and yet not read, and why. */
interface RefusedFormat {
  readonly looksLike: (text: string, bytes: Uint8Array) => boolean
  readonly reason: (text: string) => string
  readonly nextStep: string
}

const COMPRESSED: readonly (readonly number[])[] = [
  [0x50, 0x4b, 3, 4],
  [0x42, 0x5a, 0x68],
  [0xfd, 0x37, 0x7a, 0x58],
]

const isJson = (text: string) => /^[\s\uFEFF]*[[{]/.test(text)

const REFUSED: readonly RefusedFormat[] = [
  {
    looksLike: (_, bytes) =>
      COMPRESSED.some((magic) => magic.every((byte, i) => bytes[i] === byte)),
    reason: () => 'This is compressed, and not with gzip or zstd',
    nextStep: 'Unpack it, or compress it with gzip or zstd',
  },
  {
    looksLike: (_, bytes) =>
      (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff),
    reason: () => 'This is UTF-16 text',
    nextStep: 'Save it as UTF-8',
  },
  {
    looksLike: (text) => text.startsWith('PAR1'),
    reason: () => 'This is Parquet, but its name does not end in .parquet',
    nextStep: 'Let its name end in .parquet, or write parquet: before its path',
  },
  {
    looksLike: (text) => /^\s*<(!doctype\s+html|html|head|body|\?xml)/i.test(text),
    reason: (text) => `This is a web page${titleOf(text)}, perhaps an error or a login, not traces`,
    nextStep: 'Download the traces again and look at what the server answers',
  },
  {
    looksLike: (text) => /^\s*={3,}\s*X-Trace\b/m.test(text),
    reason: () => 'This is the specification of X-Trace, a text without traces',
    nextStep: 'Give a file of reports, which begin X-Trace Report ver',
  },
  {
    looksLike: (text) => isJson(text) && /"callCount"\s*:/.test(text) && /"child"\s*:/.test(text),
    reason: () =>
      'This is a dependency graph of Jaeger or Zipkin: it counts calls between services and has no traces',
    nextStep: 'Export the traces themselves (/api/traces)',
  },
  {
    looksLike: (text) => isJson(text) && /"resource_?(Logs|Metrics)"\s*:/i.test(text),
    reason: () => 'This is OTLP, but it holds logs or metrics and no spans',
    nextStep: 'Give the file of the traces pipeline',
  },
  {
    looksLike: (text) =>
      ['TID', 'FatherTID'].some((name) => headerOf(text).includes(name)) &&
      headerOf(text).includes('TaskID'),
    reason: () => 'This is one table of a TraceBench run, which needs the others',
    nextStep: 'Convert the run to OTLP with datasets/tracebench/convert.ts of the repository',
  },
  {
    looksLike: (text) => /^\uFEFF?(?=[^\n]*\brpc_?id\b)(?=[^\n]*\btraceid\b)[^\n{]*,/i.test(text),
    reason: (text) =>
      `This is an Alibaba call graph (columns ${headerOf(text).join(', ')}): its calls have hierarchy numbers (rpcid) instead of span and parent ids, and times in whole milliseconds`,
    nextStep: `Convert each call to a row with its own id and its parent's. ${COLUMNS_HINT}`,
  },
]

function headerOf(text: string): readonly string[] {
  const line = /^\uFEFF?([^\r\n]*)/.exec(text)?.[1] ?? ''
  return line.split(delimiterOf(text) ?? ',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
}

function titleOf(text: string): string {
  const title = /<title[^>]*>\s*([^<]{1,60})/i.exec(text)?.[1]?.trim()
  return title === undefined ? '' : ` ("${title}")`
}
