import type { FunctionComponent } from 'preact'
import { CallingContextView } from '../views/calling-context-view.tsx'
import { FlowView } from '../views/flow-view.tsx'
import { GanttView } from '../views/gantt-view.tsx'
import { RankingView } from '../views/ranking-view.tsx'
import { SwimlaneView } from '../views/swimlane-view.tsx'
import { TableView } from '../views/table-view.tsx'
import { ThresholdView } from '../views/threshold-view.tsx'
import { TimelineView } from '../views/timeline-view.tsx'
import { VariationView } from '../views/variation-view.tsx'

/** A view gets the data its widget was made with; only the widget knows of what type it is. */
type View = FunctionComponent<{ readonly data: never }>

/** The views of widgets by name. */
export const VIEWS: Readonly<Record<string, View>> = {
  'calling-contexts': CallingContextView,
  'flow-comparison': FlowView,
  gantt: GanttView,
  ranking: RankingView,
  swimlanes: SwimlaneView,
  table: TableView,
  threshold: ThresholdView,
  timeline: TimelineView,
  variation: VariationView,
}
