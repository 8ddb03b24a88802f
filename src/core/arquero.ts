import { ColumnTable } from 'arquero'

/**
 * Returns Arquero's table class, which takes as long to load as everything else: in the built library
 * `scripts/build/arquero-on-demand.mjs` stands in for this file and loads it when first called.
 */
export function columnTable(): typeof ColumnTable {
  return ColumnTable
}
