import {
  type EventFeature,
  LogReport,
  LogSet,
  type StateFeature,
  VariableFeatures,
} from '../../src/logs/features/log-set.ts'

const NOTHING = new LogReport({
  lines: 0,
  messages: { event: 0, state: 0 },
  skipped: [],
  emptyInstances: [],
  unreadFiles: [],
  fieldsLeftOut: [],
  sharedFiles: [],
  notExcluded: [],
})

export interface Given {
  readonly names: readonly string[]
  /** A row an instance, a column a variable, in the order of `names`, which must be ascending. */
  readonly before: readonly (readonly number[])[]
  readonly after: readonly (readonly number[])[]
  /** Run times. */
  readonly goodP: readonly number[]
  readonly badP: readonly number[]
}

/** Logs of which one feature of the events is known, and the run time. */
export function logsOf(
  { names, before, after, goodP, badP }: Given,
  feature: EventFeature = 'firstAbsolute',
): LogSet {
  const rows = [...before, ...after]
  return new LogSet({
    instances: rows.map((_, i) => `i${i}`),
    classOf: Uint8Array.from(rows, (_, i) => Number(i >= before.length)),
    runTimeUs: Float64Array.of(...goodP, ...badP),
    events: new VariableFeatures<EventFeature>({
      names,
      instances: rows.length,
      columns: [feature],
      rows: names.map((_, variable) =>
        rows
          .map((row, instance) => ({ instance, features: [row[variable] as number] }))
          .filter(({ features }) => !features.every(Number.isNaN)),
      ),
    }),
    states: new VariableFeatures<StateFeature>({
      names: [],
      instances: rows.length,
      columns: [],
      rows: [],
    }),
    report: NOTHING,
  })
}
