/** A runtime that pages carry once, whatever number of outputs want it. */
export type RuntimeName = 'charts' | 'widgets'

const GLOBALS: Readonly<Record<RuntimeName, string>> = {
  charts: 'flowdeltaCharts',
  widgets: 'flowdeltaWidgets',
}

/**
 * An expression: a promise in the page that a runtime fulfils by `.ready(runtime)`, whichever of
 * the two comes first. Outputs that never get a runtime (scripts stripped, saved without) keep
 * their picture.
 */
export function pagePromise(runtime: RuntimeName): string {
  const name = GLOBALS[runtime]
  return `(globalThis.${name}??=(()=>{let ready;const page=new Promise((done)=>{ready=done});page.ready=ready;return page})())`
}

/** What {@link pagePromise} makes, seen from the runtime. */
export interface RuntimePromise<T> extends Promise<T> {
  ready(page: T): void
}

/** Present in HTML that wants a runtime: whoever shows it sends the runtime along once. */
export const RUNTIME_MARKS: Readonly<Record<RuntimeName, string>> = {
  charts: 'data-flowdelta-chart',
  widgets: 'data-flowdelta-widget',
}
