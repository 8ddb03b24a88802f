import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { memoized } from '../../core/remembered.ts'
import { pagePromise, type RuntimeName } from '../page/page-promise.ts'
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
