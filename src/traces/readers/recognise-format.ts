import { TraceFormatError } from '../../core/errors.ts'
import { headerOf } from './csv.ts'
import { refusalOf } from './refused-formats.ts'
import type { TraceReader } from './trace-reader.ts'
import { TRACEBENCH } from './tracebench.ts'

/** How much of a file its format is recognised by. */
export const HEAD_BYTES = 1 << 16

/**
 * The reader for a file that begins with `head`, decompressed.
 *
 * @throws TraceFormatError saying what the file is instead, or how it begins.
 */
export function recogniseFormat(
  head: Uint8Array,
  readers: readonly TraceReader[],
  file: string,
): TraceReader {
  const text = new TextDecoder().decode(head)
  if (text.trim() === '') throw new TraceFormatError('The file is empty', { file }, 'Leave it out')
  const reader = readers.find((candidate) => candidate.recognises(text))
  if (reader !== undefined) return reader
  if (isTable(text)) {
    throw new TraceFormatError(
      'This is one of the tables of a TraceBench run, which mean something only together',
      { file },
      'Name the directory that holds event.csv and edge.csv',
    )
  }
  const refusal = refusalOf(text, head)
  if (refusal !== undefined) throw new TraceFormatError(refusal.reason, { file }, refusal.nextStep)
  throw new TraceFormatError(
    `This is in no trace format that is known; it begins ${beginning(text)}`,
    { file },
    `Known formats are ${readers.map(({ format }) => format).join(', ')}. If it is one of these, name it in option format`,
  )
}

/** Whether these are events or edges in the columns that the preset `tracebench` knows. */
function isTable(text: string): boolean {
  const header = headerOf(text)
  return [TRACEBENCH.events, TRACEBENCH.edges].some(({ file: _, ...columns }) =>
    Object.values(columns).every((name) => header.includes(String(name))),
  )
}

function beginning(text: string): string {
  const start = text.slice(0, 60)
  const printable = start.replace(/[^\P{C}\s]|\uFFFD/gu, '·').replace(/\s+/g, ' ')
  return `${JSON.stringify(printable)}${text.length > 60 ? ' …' : ''}`
}
