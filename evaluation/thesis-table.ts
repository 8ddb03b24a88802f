/** One row of the thesis's table of case studies; `null` where it gives no number. */
export interface ThesisRow {
  readonly results: number
  readonly top10RelevantPct: number
  readonly falsePositivesPct: number
  readonly coveragePct: number | null
}

/** Sambasivan 2013, Table 3.4, by our names of its cases and SM_P_THRESHOLD. */
const ROWS: Readonly<Record<string, readonly [number, number, number, number | null]>> = {
  'mds-config/50': [96, 100, 3, 77],
  'rmw/50': [1, 100, 0, 97],
  'mds-prefetch/50': [7, 29, 71, 93],
  'mds-prefetch/10': [14, 70, 50, 96],
  'create-behaviour/10': [11, 40, 64, null],
  'delay-100us/50': [17, 0, 100, 0],
  'delay-500us/50': [166, 100, 6, 92],
  'delay-1ms/50': [178, 100, 7, 94],
}

/** What the thesis reports for a case, or `null` where it reports no numbers. */
export function thesisRow(name: string, smPThreshold: number): ThesisRow | null {
  const row = ROWS[`${name}/${smPThreshold}`]
  if (row === undefined) return null
  const [results, top10RelevantPct, falsePositivesPct, coveragePct] = row
  return { results, top10RelevantPct, falsePositivesPct, coveragePct }
}
