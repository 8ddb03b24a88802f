import { displaySink, hasMimeBundle } from '../../core/display.ts'
import { isTable, tableBundle } from '../../core/stage.ts'

/**
 * Shows values, each as an output of its own: charts, stages and tables as they show themselves
 * (any Arquero table too), everything else as `console.log` prints it. Outside a notebook, all of
 * it is text.
 *
 * @example
 * show(stageTable({ service: ['cart'] }), 'the slow one')
 */
export function show(...values: readonly unknown[]): void {
  const sink = displaySink()
  for (const value of values) {
    const own = hasMimeBundle(value) ? value.mimeBundle() : undefined
    const bundle = own ?? (isTable(value) ? tableBundle(value) : undefined)
    if (bundle === undefined) console.log(value)
    else if (sink === undefined) console.log(bundle['text/plain'])
    else sink.send(bundle)
  }
}
