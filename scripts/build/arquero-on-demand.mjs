// Stands in for src/core/arquero.ts in the built library.
import { createRequire } from 'node:module'

const requireHere = createRequire(import.meta.url)

/** @returns {typeof import('arquero').ColumnTable} */
export function columnTable() {
  return requireHere('arquero').ColumnTable
}
