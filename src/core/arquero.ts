import { ColumnTable } from 'arquero'

/**
 * Returns Arquero's table. In the built library, `scripts/build/arquero-on-demand.mjs` stands in for
 * this file and loads Arquero when it is first called: it takes as long to load as all the rest.
 */
export function columnTable(): typeof ColumnTable {
  return ColumnTable
}
