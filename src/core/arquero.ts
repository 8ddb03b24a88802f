import { ColumnTable } from 'arquero'

/**
 * Arquero's table, which takes as long to load as all the rest: in the built library
 * `scripts/build/arquero-on-demand.mjs` stands in for this file and loads it when first called.
 */
export function columnTable(): typeof ColumnTable {
  return ColumnTable
}
