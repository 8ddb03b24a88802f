import {
  type PageData,
  RUNTIME_MARKS,
  readPageData,
  runtimePromise,
  waitForPlaces,
} from '../../page/page-data.ts'
import { type AnyProps, type AnyWidget, drawWidget } from '../define-widget.ts'
import { addTheme } from './theme.ts'
import * as WIDGETS from './views.ts'

interface WidgetPage {
  showWidget(id: string, view: string, data: PageData): Promise<void>
}

async function showWidget(id: string, view: string, packed: PageData): Promise<void> {
  const definition = Object.values<AnyWidget>(WIDGETS).find(({ name }) => name === view)
  if (definition === undefined) {
    throw new Error(`This page's flowdelta runtime has no view "${view}"`)
  }
  const props = (await readPageData(packed)) as AnyProps
  for (const place of await waitForPlaces(RUNTIME_MARKS.widgets, id)) {
    drawWidget(definition, props, place)
  }
}

addTheme()
runtimePromise<WidgetPage>('widgets').ready({ showWidget })
