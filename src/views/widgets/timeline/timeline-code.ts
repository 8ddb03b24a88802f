import type { RangeUs } from '../../../flows/select-requests.ts'
import type { TimelineData, TimelineState } from './timeline-model.ts'

/** Longer names are not spelt out in code. */
const LONGEST_LITERAL = 80
/** Letters that show as what they are. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u

/**
 * The code that selects the requests of a state:
 * `selectRequests(comparison.flows, requestsBetween(comparison.flows, { beforeUs: [0, 2e6] }))`.
 */
export function timelineCode(data: TimelineData, { ranges, filter }: TimelineState): string {
  const { name } = data
  const [before, after] = ranges
  const of = `${name}.categories.categoryOf[request]`
  const parts = [
    before === null ? '' : `beforeUs: ${rangeCode(before)}`,
    after === null ? '' : `afterUs: ${rangeCode(after)}`,
    filter.kind === 'category' ? `where: (request) => ${of} === ${filter.of}` : '',
    filter.kind === 'root'
      ? `where: (request) => ${name}.categories.root(${of}) === ${rootCode(data, filter.of)}`
      : '',
  ].filter((part) => part !== '')
  return parts.length === 0
    ? `${name}.flows`
    : `selectRequests(${name}.flows, requestsBetween(${name}.flows, { ${parts.join(', ')} }))`
}

/** A name from a trace as a literal, if it can be read as one; else where it is to be found. */
function rootCode({ name, roots, categories }: TimelineData, root: number): string {
  const text = roots[root] as string
  if (text.length <= LONGEST_LITERAL && PLAIN.test(text)) {
    return `'${text.replace(/[\\']/g, '\\$&')}'`
  }
  return `${name}.categories.root(${categories.findIndex(([of]) => of === root)})`
}

function rangeCode([fromUs, toUs]: RangeUs): string {
  return `[${numberCode(fromUs)}, ${numberCode(toUs)}]`
}

/** A number as short as it can be read: `12.3e6`, `250_500`. */
export function numberCode(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) < 10_000) return String(value)
  const power = Math.abs(value) >= 1e6 ? 6 : 3
  const short = `${Number((value / 10 ** power).toPrecision(6))}e${power}`
  return Number(short) === value ? short : String(value).replace(/\B(?=(\d{3})+$)/g, '_')
}
