import type { FunctionComponent } from 'preact'
import { ThresholdView } from '../views/threshold-view.tsx'

/** A view gets the data its widget was made with; only the widget knows of what type it is. */
type View = FunctionComponent<{ readonly data: never }>

/** The views of widgets by name. */
export const VIEWS: Readonly<Record<string, View>> = {
  threshold: ThresholdView,
}
