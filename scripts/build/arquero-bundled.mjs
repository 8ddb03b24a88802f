// Stands in for src/core/arquero.ts in programs that carry Arquero with them.

/** @returns {typeof import('arquero').ColumnTable} */
export function columnTable() {
  return require('arquero').ColumnTable
}
