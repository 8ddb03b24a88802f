import { callingContextsWidget } from '../calling-contexts/calling-contexts-widget.ts'
import type { AnyWidget } from '../define-widget.ts'
import { explanationWidget } from '../explanation/explanation-widget.ts'
import { flowsWidget } from '../flows/flows-widget.ts'
import { ganttWidget } from '../gantt/gantt-widget.ts'
import { logsWidget } from '../logs/logs-widget.ts'
import { rankingWidget } from '../ranking/ranking-widget.ts'
import { swimlanesWidget } from '../swimlanes/swimlanes-widget.ts'
import { tableWidget } from '../table/table-widget.ts'
import { timelineWidget } from '../timeline/timeline-widget.ts'
import { varianceWidget } from '../variance/variance-widget.ts'
import { whatIfWidget } from '../whatif/what-if-widget.ts'

export const DEFINITIONS: readonly AnyWidget[] = [
  callingContextsWidget,
  flowsWidget,
  ganttWidget,
  explanationWidget,
  swimlanesWidget,
  logsWidget,
  tableWidget,
  timelineWidget,
  rankingWidget,
  varianceWidget,
  whatIfWidget,
]
