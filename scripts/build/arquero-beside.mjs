// Stands in for src/core/arquero.ts in programs that have Arquero in a file beside them.
import { createRequire } from 'node:module'

const requireHere = createRequire(import.meta.url)

/** @returns {typeof import('arquero').ColumnTable} */
export function columnTable() {
  return requireHere('./arquero.cjs').ColumnTable
}
