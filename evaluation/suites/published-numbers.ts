/** What the authors of Nezha report on all 101 faults, in per cent; `null` where nothing is known. */
export interface PublishedRow {
  readonly method: string
  readonly reads: string
  readonly accuracyPct: Readonly<Record<'OB' | 'TT', readonly (number | null)[]>>
}

/** Services, AS@1, 3 and 5. Source: Yu et al. 2023, "Nezha", FSE. */
export const PUBLISHED: readonly PublishedRow[] = [
  {
    method: 'Nezha',
    reads: 'metrics, logs, traces',
    accuracyPct: { OB: [92.9, 96.4, 96], TT: [86.7, 97.8, 98] },
  },
  {
    method: 'Nezha without logs',
    reads: 'metrics, traces',
    accuracyPct: { OB: [64.3, 64.3, 64], TT: [42.2, 44.4, 44] },
  },
  {
    method: 'MicroRank',
    reads: 'traces',
    accuracyPct: { OB: [41.1, 48.2, 63], TT: [15.6, 24.4, 36] },
  },
  {
    method: 'TraceAnomaly',
    reads: 'traces',
    accuracyPct: { OB: [30.4, 33.9, null], TT: [13.3, 28.9, null] },
  },
  {
    method: 'PDiagnose',
    reads: 'metrics, logs, traces',
    accuracyPct: { OB: [41.1, 73.2, null], TT: [8.9, 13.3, null] },
  },
]
