import type { MimeBundle } from '../../core/display.ts'
import { RUNTIME_MARKS, type RuntimeName } from '../page/page-promise.ts'
import { runtimeHtml } from './runtime-html.ts'

export type BundleCompleter = (bundle: MimeBundle, run?: unknown) => MimeBundle

const RUNTIMES = Object.keys(RUNTIME_MARKS) as RuntimeName[]

/**
 * Sends a runtime with the first output that wants it, and again when that output is shown again,
 * as its cell was run again. Charts are the same by title, widgets by title and description.
 */
export function interactiveBundles(): BundleCompleter {
  const carriers = new Map<RuntimeName, { readonly name: string; readonly run: unknown }>()
  return (bundle, run) => {
    const { 'image/svg+xml': _alreadyInHtml, ...rest } = bundle
    const html = rest['text/html']
    if (html === undefined) return bundle
    const text = bundle['text/plain']
    const runtimes = RUNTIMES.filter((runtime) => {
      if (!html.includes(RUNTIME_MARKS[runtime])) return false
      const isChart = !html.includes(RUNTIME_MARKS.widgets)
      const name = isChart ? (text.split('\n', 1)[0] as string) : text
      const carrier = carriers.get(runtime)
      const isCarrier =
        carrier === undefined ||
        (carrier.name === name && (run === undefined || carrier.run !== run))
      if (isCarrier) carriers.set(runtime, { name, run })
      return isCarrier
    })
    return { ...rest, 'text/html': [...runtimes.map(runtimeHtml), html].join('') }
  }
}

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
