import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { MimeBundle } from '../../core/display.ts'
import { memoized } from '../../core/remembered.ts'
import { pagePromise, RUNTIME_MARKS, type RuntimeName } from '../page/page-data.ts'
import { builtFile } from './connect-charts.ts'

const FILES: Readonly<Record<RuntimeName, string>> = {
  charts: 'chart-runtime.cjs',
  widgets: 'widget-runtime.js',
}

/** The script that puts a runtime into a page, compressed; a page that has it ignores it. */
export const runtimeHtml = memoized((runtime: RuntimeName) =>
  wrap(runtime, compressed(readFileSync(builtFile(FILES[runtime])))),
)

export function compressed(content: string | Uint8Array): string {
  return gzipSync(content, { level: 9 }).toString('base64')
}

function wrap(runtime: RuntimeName, payload: string): string {
  return (
    `<script type="module" data-flowdelta-runtime="${runtime}">const page=${pagePromise(runtime)};if(!page.started){page.started=true;` +
    `const bytes=Uint8Array.from(atob("${payload}"),(c)=>c.charCodeAt(0));` +
    `const text=await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();` +
    `const script=document.createElement("script");script.textContent=text;document.head.append(script)}</script>`
  )
}

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
