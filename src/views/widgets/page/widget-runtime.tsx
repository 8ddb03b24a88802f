import { render, type VNode } from 'preact'
import type { PageData } from '../../page/page-data.ts'
import { RUNTIME_MARKS, runtimePromise } from '../../page/page-promise.ts'
import { readPageData } from '../../page/read-page-data.ts'
import { waitForPlaces } from '../../page/wait-for-places.ts'
import type { ViewProps } from '../define-widget.ts'
import { THEME } from './theme.ts'
import { DEFINITIONS, VIEWS } from './views.ts'

/** What the scripts of outputs may call once this runtime is in the page. */
interface WidgetPage {
  /** Replaces the picture of a widget with its view. */
  showWidget(id: string, view: string, data: PageData): Promise<void>
}

async function showWidget(id: string, view: string, packed: PageData): Promise<void> {
  const draw = viewOf(view)
  if (draw === undefined) throw new Error(`This page's flowdelta runtime has no view "${view}"`)
  const data = await readPageData(packed)
  for (const place of await waitForPlaces(RUNTIME_MARKS.widgets, id)) {
    const live = document.createElement('div')
    live.className = `flowdelta fd-${view}`
    render(draw(data as never), live)
    place.replaceChildren(live)
  }
}

function viewOf(name: string): ((data: never) => VNode) | undefined {
  const View = VIEWS[name]
  if (View !== undefined) return (data) => <View data={data} />
  const Defined = DEFINITIONS.find((definition) => definition.name === name)?.view
  return Defined === undefined
    ? undefined
    : (props: ViewProps<unknown, never>) => <Defined {...props} />
}

function addTheme(): void {
  const style = document.createElement('style')
  style.textContent = THEME
  document.head.append(style)
}

addTheme()
runtimePromise<WidgetPage>('widgets').ready({ showWidget })
