import { createRequire } from 'node:module'
import { type DisplaySink, type MimeBundle, setDisplaySink } from '../../core/display.ts'
import { setTableHtml } from '../../core/stage.ts'
import { setCompressor } from '../page/page-data.ts'
import { explorableTableHtml } from '../widgets/table/explore-table.ts'
import {
  type BundleCompleter,
  compressed,
  interactiveBundles,
  staticBundles,
} from './bundle-completer.ts'
import { connectCharts } from './connect-charts.ts'

/** Lets values show themselves in this process's notebook; `FLOWDELTA_STATIC=1` omits scripts. */
export function connectNotebook(): void {
  connectCharts()
  setCompressor(compressed)
  const { FLOWDELTA_STATIC: wantsStatic } = process.env
  setTableHtml(wantsStatic === '1' ? undefined : explorableTableHtml)
  const complete = wantsStatic === '1' ? staticBundles() : interactiveBundles()
  setDisplaySink(tslabSink(complete) ?? denoSink(complete))
}

/** Returns a sink for Deno's kernel, which asks values for their bundle itself: only `show` has to send one. */
function denoSink(complete: BundleCompleter): DisplaySink | undefined {
  const jupyter = denoJupyter()
  if (jupyter === undefined) return undefined
  return {
    complete,
    send: (bundle) => {
      void jupyter.broadcast('display_data', { data: complete(bundle), ...NO_METADATA })
    },
    replaceNextPrint: () => {},
  }
}

/** Returns the API of Deno's kernel; elsewhere Deno throws on access. */
function denoJupyter(): DenoJupyter | undefined {
  const { Deno: deno } = globalThis as { Deno?: { jupyter?: DenoJupyter } }
  try {
    return deno?.jupyter
  } catch {
    return undefined
  }
}

const NO_METADATA = { metadata: {}, transient: {} }

interface Output {
  readonly data: MimeBundle
  readonly metadata: object
  readonly transient: object
}

interface DenoJupyter {
  broadcast(type: string, content: Output): Promise<void>
}

/** tslab's own function for sending an output of the running cell. */
type WriteDisplayData = (content: Output, update: boolean) => void

interface TslabJupyter {
  readonly lastWriteDisplayData?: WriteDisplayData | null
}

const TSLAB_JUPYTER = /[\\/]tslab[\\/]dist[\\/]jupyter\.js$/

/** Returns a sink for the tslab kernel this process is, or `undefined` if it is none. */
function tslabSink(complete: BundleCompleter): DisplaySink | undefined {
  const jupyter = findTslab()
  if (jupyter === undefined) return undefined
  const send = (bundle: MimeBundle): void => {
    const write = jupyter.lastWriteDisplayData
    if (typeof write !== 'function') return void process.stdout.write(`${bundle['text/plain']}\n`)
    // tslab makes the function anew for each run of a cell.
    write({ data: complete(bundle, write), ...NO_METADATA }, false)
  }
  return {
    send,
    complete,
    replaceNextPrint: (text, bundle) => replaceNextPrint(text, () => send(bundle())),
  }
}

/** Finds tslab: a running kernel has loaded its `jupyter.js`, which is then in Node's module cache. */
function findTslab(): TslabJupyter | undefined {
  const { cache } = createRequire(import.meta.url)
  for (const [path, module] of Object.entries(cache)) {
    const loaded: unknown = module?.exports
    if (TSLAB_JUPYTER.test(path) && isTslabJupyter(loaded)) return loaded
  }
  return undefined
}

function isTslabJupyter(loaded: unknown): loaded is TslabJupyter {
  return typeof loaded === 'object' && loaded !== null && 'lastWriteDisplayData' in loaded
}

/** Replaces the next write by `show` if it is the text: tslab prints the last value right after asking for it. */
function replaceNextPrint(text: string, show: () => void): void {
  const { stdout } = process
  const original = stdout.write
  const watch = ((...parts: Parameters<typeof stdout.write>): boolean => {
    if (stdout.write === watch) stdout.write = original
    if (parts[0] !== `${text}\n`) return original.apply(stdout, parts)
    show()
    return true
  }) as typeof stdout.write
  stdout.write = watch
}
