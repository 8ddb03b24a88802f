import { callingContextsWidget } from '../calling-contexts/calling-contexts-widget.tsx'
import type { AnyWidget } from '../define-widget.ts'
import { explanationWidget } from '../explanation/explanation-widget.tsx'
import { flowsWidget } from '../flows/flows-widget.ts'
import { ganttWidget } from '../gantt/gantt-widget.ts'
import { logsWidget } from '../logs/logs-widget.tsx'
import { questionsWidget } from '../questions/questions-widget.tsx'
import { rankingWidget } from '../ranking/ranking-widget.tsx'
import { swimlanesWidget } from '../swimlanes/swimlanes-widget.tsx'
import { tableWidget } from '../table/table-widget.ts'
import { timelineWidget } from '../timeline/timeline-widget.tsx'
import { varianceWidget } from '../variance/variance-widget.tsx'
import { whatIfWidget } from '../whatif/what-if-widget.tsx'

export const DEFINITIONS: readonly AnyWidget[] = [
  callingContextsWidget,
  flowsWidget,
  ganttWidget,
  explanationWidget,
  swimlanesWidget,
  logsWidget,
  tableWidget,
  timelineWidget,
  questionsWidget,
  rankingWidget,
  varianceWidget,
  whatIfWidget,
]
