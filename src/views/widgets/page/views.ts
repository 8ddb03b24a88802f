import type { FunctionComponent } from 'preact'
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
import { WhatIfView } from '../whatif/what-if-view.tsx'

/** Widgets made by `defineWidget`. */
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
]

/** A view gets the data its widget was made with; only the widget knows of what type it is. */
type View = FunctionComponent<{ readonly data: never }>

/** Views of the widgets that are not defined that way, by name. */
export const VIEWS: Readonly<Record<string, View>> = {
  'what-if': WhatIfView,
}
