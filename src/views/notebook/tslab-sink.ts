import { createRequire } from 'node:module'
import type { DisplaySink, MimeBundle } from '../../core/display.ts'
import type { BundleCompleter } from './bundle-completer.ts'

/** tslab's own function for sending an output of the running cell. */
type WriteDisplayData = (
  content: { data: MimeBundle; metadata: object; transient: object },
  update: boolean,
) => void

interface TslabJupyter {
  readonly lastWriteDisplayData?: WriteDisplayData | null
}

const TSLAB_JUPYTER = /[\\/]tslab[\\/]dist[\\/]jupyter\.js$/

/** A sink for the tslab kernel this process is, or `undefined` if it is none. */
export function tslabSink(complete: BundleCompleter): DisplaySink | undefined {
  const jupyter = findTslab()
  if (jupyter === undefined) return undefined
  const send = (bundle: MimeBundle): void => {
    const write = jupyter.lastWriteDisplayData
    if (typeof write !== 'function') return void process.stdout.write(`${bundle['text/plain']}\n`)
    // tslab makes the function anew for each run of a cell.
    write({ data: complete(bundle, write), metadata: {}, transient: {} }, false)
  }
  return {
    send,
    complete,
    replaceNextPrint: (text, bundle) => replaceNextPrint(text, () => send(bundle())),
  }
}

/** A running kernel has loaded its `jupyter.js`, so that it stands in Node's module cache. */
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

/**
 * tslab prints a cell's last value by `console.log` right after asking for its text: `show`
 * replaces that write if it is the text alone.
 */
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
