import { connectNotebook } from './notebook/connect.ts'

export { Chart, type ChartText } from './charts/chart.ts'
export type { VegaLiteSpec } from './charts/vega-lite-spec.ts'
export { Displayable, type MimeBundle } from './display.ts'
export { FlowdeltaError, InternalError, OptionError, TraceFormatError } from './errors.ts'
export { show } from './notebook/show.ts'
export { StageTable, stageTable } from './stage-table.ts'
export { type TableDisplayOptions, tableHtml, tableText } from './table-display.ts'
export { formatDuration, type Microseconds } from './units.ts'

connectNotebook()
