import type { PathCondition } from '../../stats/decision-tree/tree-paths.ts'
import type { Parameter } from './parameter.ts'

/** 1 for each row that fulfils all conditions; a row in which a value is missing does not. */
export function rowsOnPath(
  parameters: readonly Parameter[],
  conditions: readonly PathCondition[],
  rows: number,
): Uint8Array {
  const fits = new Uint8Array(rows).fill(1)
  for (const condition of conditions) {
    const parameter = parameters.find(({ name }) => name === condition.column)
    if (parameter === undefined) continue
    for (let row = 0; row < rows; row++) {
      if (!fulfils(parameter, condition, row)) fits[row] = 0
    }
  }
  return fits
}

function fulfils(parameter: Parameter, condition: PathCondition, row: number): boolean {
  if (condition.kind === 'levels') {
    return parameter.kind === 'categorical' && condition.codes.includes(parameter.codes[row] ?? -1)
  }
  if (parameter.kind !== 'numeric') return false
  const value = parameter.values[row] as number
  const { above = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = condition
  return value > above && value <= atMost
}
