import type {
  ClassificationNode,
  ClassificationTree,
  TreeColumn,
} from '../../../src/stats/index.ts'

/** Values as they stand in a table: null for missing. */
export type Cell = number | string | null

/** A numeric column. */
export function numeric(name: string, values: readonly (number | null)[]): TreeColumn {
  return {
    name,
    kind: 'numeric',
    values: Float64Array.from(values, (value) => value ?? Number.NaN),
  }
}

/** A categorical column; levels in alphabetical order, as in the oracles. */
export function categorical(name: string, values: readonly (string | null)[]): TreeColumn {
  const known = values.filter((value) => value !== null)
  const levels = [...new Set(known)].sort()
  const codes = Int32Array.from(values, (value) => (value === null ? -1 : levels.indexOf(value)))
  return { name, kind: 'categorical', codes, levels }
}

/** A tree as Weka prints it: branches in order, `class (weight/errors)` after a leaf. */
export function wekaText(tree: ClassificationTree): string[] {
  const { root } = tree
  if (root.kind === 'leaf') return [`: ${wekaLeaf(root)}`]
  const levels = new Map(tree.columns.map((column) => [column.name, column]))
  const lines: string[] = []
  const visit = (node: ClassificationNode, indent: string) => {
    if (node.kind === 'leaf') return
    const { column, test, children } = node
    const info = levels.get(column)
    const nameOf = (code: number) => (info?.kind === 'categorical' ? info.levels[code] : '')
    for (const [i, child] of children.entries()) {
      const condition =
        test.kind === 'threshold'
          ? `${i === 0 ? '<=' : '>'} ${test.value}`
          : test.kind === 'branches'
            ? `= ${nameOf(test.codes[i] as number)}`
            : `in ${test.codes[i]?.map(nameOf).join(' ')}`
      const leaf = child.kind === 'leaf' ? `: ${wekaLeaf(child)}` : ''
      lines.push(`${indent}${column} ${condition}${leaf}`)
      visit(child, `${indent}|   `)
    }
  }
  visit(root, '')
  return lines
}

/** Weka knows no undecided leaf: of equally many it says the first class. */
function wekaLeaf({ weights: [first, second], predicts }: ClassificationNode): string {
  const errors = Math.min(first, second)
  const round = (weight: number) => {
    const text = String(Math.round(weight * 100) / 100)
    return text.includes('.') ? text : `${text}.0`
  }
  const counts =
    errors > 0.005 ? `${round(first + second)}/${round(errors)}` : round(first + second)
  return `c${predicts ?? 0} (${counts})`
}
