/**
 * Rows of a table for `describe.each`: the first always run, the others with `npm run test:full`.
 *
 * describe.each(firstQuick(ROWS))('claim', ({ rows, tags }) => {
 *   test.each(rows)('%s', { tags }, (row) => {})
 * })
 */
export function firstQuick<const Row>(rows: readonly Row[], quick = 1) {
  return [
    { rows: rows.slice(0, quick), tags: [] as string[] },
    { rows: rows.slice(quick), tags: ['full'] },
  ]
}
