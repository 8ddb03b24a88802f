import { hasMimeBundle } from '../../../core/display.ts'
import { FlowdeltaError, OptionError } from '../../../core/errors.ts'
import { isTable } from '../../../core/stage.ts'
import { Chart, Drawing } from '../../charts/chart.ts'
import { type ChartPage, runtimePromise } from '../../page/page-data.ts'
import { exploreTable } from '../table/explore-table.ts'
import { Widget } from '../widget.ts'

declare global {
  /** The page's type; Node has none, and its users need not compile with the types of pages. */
  interface HTMLElement {}
}

/**
 * Returns an element of the page that shows a chart, a widget, a stage or a table, alive, for a cell of Observable to
 * display or a page to append. A chart is drawn a moment later.
 *
 * @throws FlowdeltaError if there is no page: notebooks under Node have `show`
 * @throws OptionError for any other value
 *
 * @example
 * const showIt = () => document.body.append(toElement(plot(comparison)))
 */
export function toElement(value: unknown): HTMLElement {
  const shown = pictureOf(value)
  if (shown === undefined) {
    throw new OptionError('value', value, 'a chart, a widget, a stage or a table')
  }
  if (typeof document === 'undefined') {
    throw new FlowdeltaError(
      'toElement needs a page to draw in, and Node has none. Use show in notebooks, or chart.svg().',
    )
  }
  const place = document.createElement('div')
  place.style.overflowX = 'auto'
  if (shown instanceof Widget) shown.drawInto(place)
  else if (shown instanceof Drawing) place.innerHTML = shown.svg()
  else {
    const spec = { description: shown.description, ...shown.spec }
    void runtimePromise<ChartPage>('charts').then((page) => page.drawChart(place, spec))
  }
  return place
}

function pictureOf(value: unknown): Chart | Drawing | Widget | undefined {
  if (value instanceof Widget || value instanceof Chart || value instanceof Drawing) return value
  if (isTable(value)) return exploreTable(value)
  if (!hasMimeBundle(value) || !('table' in value)) return undefined
  return typeof value.table === 'function' ? pictureOf(value.table()) : undefined
}
