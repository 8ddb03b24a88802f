import type { TreeColumn } from '../../stats/decision-tree/tree.ts'
import type { AttributeValue } from '../../traces/attributes.ts'

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
/** Digits that begin with a zero are a name, such as a postcode. */
const NAME = /^[+-]?0\d/

/**
 * Values of one parameter as a column: numeric where every known value is a finite number (or text
 * that is one), categorical otherwise, where two texts are one number, or for names (`isName`). Levels are sorted, so that the order of rows does not matter.
 */
export function typedColumn(
  name: string,
  values: readonly (AttributeValue | undefined)[],
  { isName = false }: { readonly isName?: boolean } = {},
): TreeColumn {
  const known = new Set(values.filter((value) => value !== undefined))
  const all = [...known]
  // 1.1 and 1.10 are versions: two names, one number.
  const numbers = new Set(all.map(Number))
  if (!isName && all.length > 0 && all.every(isNumeric) && numbers.size === all.length) {
    return {
      ...{ name, kind: 'numeric' },
      values: Float64Array.from(values, (value) =>
        value === undefined ? Number.NaN : Number(value),
      ),
    }
  }
  const texts = values.map((value) => (value === undefined ? undefined : String(value)))
  const levels = [...new Set(texts.filter((text) => text !== undefined))].sort()
  const codeOf = new Map(levels.map((level, code) => [level, code]))
  const codes = Int32Array.from(texts, (text) =>
    text === undefined ? -1 : (codeOf.get(text) ?? -1),
  )
  return { name, kind: 'categorical', codes, levels }
}

function isNumeric(value: AttributeValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'string' && NUMBER.test(value) && !NAME.test(value)
}
