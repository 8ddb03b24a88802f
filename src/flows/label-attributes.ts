import { memoized } from '../core/remembered.ts'
import type { AttributeValue } from '../traces/attributes.ts'
import type { SpanTraces } from '../traces/span-traces.ts'

/** Numbers of more different values than this are distinguished by their power of two only. */
const MAX_NUMBERS = 12

/**
 * Reads what attributes add to the label of a span, `tenant=gold, size=64..128`, or nothing where it
 * has none of them. Numbers of many values, over all recordings, stand in buckets by powers of two.
 */
export function attributeLabels(
  recordings: readonly SpanTraces[],
  names: readonly string[],
): (traces: SpanTraces, span: number) => string {
  if (names.length === 0) return () => ''
  const values = names.map((name) => new Set(recordings.flatMap((one) => numbersOf(one, name))))
  const bucketed = values.map(({ size }) => size > MAX_NUMBERS)
  const readersOf = memoized(({ attributes }: SpanTraces) =>
    names.map((name) => attributes.reader(name)),
  )
  return (traces, span) => {
    const readers = readersOf(traces)
    const parts = names.flatMap((name, i) => {
      const value = readers[i]?.(span)
      if (value === undefined) return []
      return `${name}=${bucketed[i] === true ? bucketText(value) : value}`
    })
    return parts.join(', ')
  }
}

function numbersOf({ attributes }: SpanTraces, name: string): number[] {
  const found = new Set<number>()
  const read = attributes.reader(name)
  for (let span = 0; span + 1 < attributes.offsets.length && found.size <= MAX_NUMBERS; span++) {
    const value = read?.(span)
    if (typeof value === 'number') found.add(value)
  }
  return [...found]
}

/**
 * Returns the bucket of a value: `64..128` holds 64 and not 128; everything below 1, including 0 and less, is one
 * bucket.
 */
function bucketText(value: AttributeValue): string {
  if (typeof value !== 'number') return String(value)
  if (!(value >= 1)) return 'below 1'
  const low = 2 ** Math.floor(Math.log2(value))
  return `${low}..${2 * low}`
}
