import { render } from 'preact'
import type { PageData } from '../../page/page-data.ts'
import { RUNTIME_MARKS, runtimePromise } from '../../page/page-promise.ts'
import { readPageData } from '../../page/read-page-data.ts'
import { waitForPlaces } from '../../page/wait-for-places.ts'
import type { ViewProps } from '../define-widget.ts'
import { THEME } from './theme.ts'
import { DEFINITIONS } from './views.ts'

interface WidgetPage {
  showWidget(id: string, view: string, data: PageData): Promise<void>
}

async function showWidget(id: string, view: string, packed: PageData): Promise<void> {
  const View = DEFINITIONS.find(({ name }) => name === view)?.view
  if (View === undefined) throw new Error(`This page's flowdelta runtime has no view "${view}"`)
  const props = (await readPageData(packed)) as ViewProps<unknown, never>
  for (const place of await waitForPlaces(RUNTIME_MARKS.widgets, id)) {
    const live = document.createElement('div')
    live.className = `flowdelta fd-${view}`
    render(<View {...props} />, live)
    place.replaceChildren(live)
  }
}

function addTheme(): void {
  const style = document.createElement('style')
  style.textContent = THEME
  document.head.append(style)
}

addTheme()
runtimePromise<WidgetPage>('widgets').ready({ showWidget })
