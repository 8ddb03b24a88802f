import { type DisplaySink, type MimeBundle, setDisplaySink } from '../../core/display.ts'
import { setTableHtml } from '../../core/stage.ts'
import { setCompressor } from '../page/page-data.ts'
import { explorableTableHtml } from '../widgets/table/table-widget.ts'
import { type BundleCompleter, interactiveBundles, staticBundles } from './bundle-completer.ts'
import { connectCharts } from './connect-charts.ts'
import { compressed } from './runtime-html.ts'
import { tslabSink } from './tslab-sink.ts'

/** Lets values show themselves in this process's notebook; `FLOWDELTA_STATIC=1` omits scripts. */
export function connectNotebook(): void {
  connectCharts()
  setCompressor(compressed)
  const { FLOWDELTA_STATIC: wantsStatic } = process.env
  setTableHtml(wantsStatic === '1' ? undefined : explorableTableHtml)
  const complete = wantsStatic === '1' ? staticBundles() : interactiveBundles()
  setDisplaySink(tslabSink(complete) ?? denoSink(complete))
}

/** Deno's kernel asks values for their bundle itself; only `show` has to send one. */
function denoSink(complete: BundleCompleter): DisplaySink | undefined {
  const { Deno: deno } = globalThis as { Deno?: { jupyter?: DenoJupyter } }
  const jupyter = deno?.jupyter
  if (jupyter === undefined) return undefined
  return {
    complete,
    send: (bundle) => {
      void jupyter.broadcast('display_data', {
        data: complete(bundle),
        metadata: {},
        transient: {},
      })
    },
    replaceNextPrint: () => {},
  }
}

interface DenoJupyter {
  broadcast(
    type: string,
    content: { data: MimeBundle; metadata: object; transient: object },
  ): Promise<void>
}
