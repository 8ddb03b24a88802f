import type { StructureOutline } from '../categories/structure-outline.ts'
import type { EditTokens } from './precursors.ts'

/**
 * The tokens of a structure, from 0 to twice the number of labels less one. A node's token is
 * twice its label's number; with `'preorder'`, one more where a join is reached again: without
 * that, a shared join and a private one would read the same.
 */
export function editTokens(outline: StructureOutline, kind: EditTokens): Uint32Array {
  return kind === 'edges' ? edgeTokens(outline) : nodeTokens(outline)
}

function nodeTokens({ labelCodes, visits }: StructureOutline): Uint32Array {
  const entered = new Uint8Array(labelCodes.length)
  const tokens = new Uint32Array(visits.length)
  for (let i = 0; i < visits.length; i++) {
    const node = visits[i] as number
    tokens[i] = 2 * (labelCodes[node] as number) + (entered[node] as number)
    entered[node] = 1
  }
  return tokens
}

function edgeTokens({ labelCodes, visits, callers }: StructureOutline): Uint32Array {
  const tokens = new Uint32Array(2 * visits.length)
  let count = 0
  for (let i = 0; i < visits.length; i++) {
    const node = visits[i] as number
    const caller = callers[i] as number
    if (caller === node) continue
    tokens[count++] = 2 * (labelCodes[caller] as number)
    tokens[count++] = 2 * (labelCodes[node] as number)
  }
  return tokens.slice(0, count)
}
