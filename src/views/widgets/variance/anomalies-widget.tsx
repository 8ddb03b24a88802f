import { useMemo } from 'preact/hooks'
import { Comparison } from '../../../comparison/comparison.ts'
import { decodeColumns, type EncodedColumns, encodeColumns } from '../../../core/columns.ts'
import { OptionError } from '../../../core/errors.ts'
import { defineOptions, type OptionsOf, optionalText, readOptions } from '../../../core/options.ts'
import { tooltipText } from '../../../core/words.ts'
import type { Anomalies } from '../../../explain/variance/find-anomalies.ts'
import { findVariance, VarianceSources } from '../../../explain/variance/find-variance.ts'
import type { VegaLiteSpec } from '../../charts/chart.ts'
import { anomaliesChart, unlikeOf } from '../../charts/variance.ts'
import { StateCode } from '../../drawing/controls.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { defineWidget, STAGE_NAME, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { GANTT_OPTIONS, type GanttData, ganttOf } from '../gantt/gantt-model.ts'
import { GANTT_STYLE, GanttView } from '../gantt/gantt-widget.tsx'
import { VegaChart } from '../vega-chart.tsx'

const ANOMALIES_WIDGET_OPTIONS = defineOptions({
  ...anomaliesChart.options,
  id: optionalText('Id of the trace that is open at first; null for none'),
  name: STAGE_NAME,
})

type AnomaliesWidgetOptions = OptionsOf<typeof ANOMALIES_WIDGET_OPTIONS>

interface AnomaliesData {
  readonly said: string
  readonly spec: VegaLiteSpec
  /** Traces of the requests that stand out in the chart. */
  readonly traces: readonly GanttData[]
}

const MAX_CALLS = 40_000

function anomaliesData(
  stage: Comparison | VarianceSources | Anomalies,
  { limit, id }: AnomaliesWidgetOptions,
): EncodedColumns<AnomaliesData> {
  const variance = stage instanceof Comparison ? findVariance(stage) : stage
  const found = variance instanceof VarianceSources ? variance.anomalies() : variance
  const { flows } = found.categories
  const { spec, description } = anomaliesChart(found, { limit })
  const requests = found.groups.slice(0, limit).flatMap((one) => [...one.typical, ...unlikeOf(one)])
  const asked = id === null ? [] : [flows.ids.indexOf(id)]
  if (asked[0] === -1) throw new OptionError('id', id, 'the id of a trace')
  let calls = 0
  const traces = [...new Set([...asked, ...requests])].flatMap((request) => {
    const trace = calls < MAX_CALLS ? ganttOf(flows, [request]) : null
    calls += trace?.calls.length ?? 0
    return trace ?? []
  })
  return encodeColumns({ said: description, spec, traces })
}

function AnomaliesView(props: ViewProps<EncodedColumns<AnomaliesData>, AnomaliesWidgetOptions>) {
  const { options, change, code } = useWidgetOptions(ANOMALIES_WIDGET_OPTIONS, props)
  const { spec, traces } = useMemo(() => decodeColumns(props.data), [props.data])
  const { id } = options
  const trace = traces.find(
    ({ traceId }) => id !== null && tooltipText(traceId) === tooltipText(id),
  )
  return (
    <section aria-label="Anomalies">
      <VegaChart
        spec={spec}
        onPick={({ trace: picked }) => typeof picked === 'string' && change({ id: picked })}
      />
      {trace !== undefined ? (
        <GanttView
          key={id}
          data={trace}
          options={{ ...readOptions(GANTT_OPTIONS), id }}
          call={{ name: trace.period ?? 'traces', kind: null }}
        />
      ) : (
        <PageOnly>
          <p class="fd-soft" aria-live="polite">
            {id === null
              ? 'Click a request to see where its time goes.'
              : 'This page has the traces of the larger dots only. To see this one, run:'}
          </p>
        </PageOnly>
      )}
      <StateCode code={code} />
    </section>
  )
}

/**
 * Shows requests unlike the others of their kind as strips of response times, each of which opens as a trace. Source:
 * Sambasivan 2013, §2.4, §6.1.1 and §7.6.1; the drawing is our own.
 */
export const anomaliesWidget = defineWidget({
  name: 'anomalies',
  title: 'Anomalies',
  description: ({ columns }: EncodedColumns<AnomaliesData>) =>
    `${decodeColumns<AnomaliesData>({ columns }).said} Click a request to open its trace.`,
  options: ANOMALIES_WIDGET_OPTIONS,
  data: anomaliesData,
  view: AnomaliesView,
  style: GANTT_STYLE,
  hasCharts: true,
})
