import { PAGE_RUNTIME_MARK } from '../charts/chart-html.ts'
import type { MimeBundle } from '../display.ts'
import { pageRuntimeHtml } from './page-runtime-html.ts'

/** Turns a value's bundle into what one notebook is to keep. */
export type BundleCompleter = (bundle: MimeBundle) => MimeBundle

/**
 * Sends the page runtime along with the first chart. It goes along again when the chart that
 * carried it is shown again: its cell was run again, and the output with the runtime is gone.
 */
export function interactiveBundles(): BundleCompleter {
  let carrier: string | undefined
  return (bundle) => {
    const { 'image/svg+xml': _alreadyInHtml, ...rest } = bundle
    const html = rest['text/html']
    if (html === undefined) return bundle
    if (!html.includes(PAGE_RUNTIME_MARK)) return rest
    const title = bundle['text/plain'].split('\n', 1)[0]
    if (carrier !== undefined && carrier !== title) return rest
    carrier = title
    return { ...rest, 'text/html': pageRuntimeHtml() + html }
  }
}

/** Keeps pictures and tables only: small, the same every time, and without scripts. */
export function staticBundles(): BundleCompleter {
  return (bundle) => {
    const text = bundle['text/plain']
    const svg = bundle['image/svg+xml']
    const html = bundle['text/html']
    if (svg !== undefined) return { 'text/plain': text, 'image/svg+xml': svg }
    if (html === undefined) return { 'text/plain': text }
    return { 'text/plain': text, 'text/html': html.replace(/<script\b[\s\S]*?<\/script>/g, '') }
  }
}
