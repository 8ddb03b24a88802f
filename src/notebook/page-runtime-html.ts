import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { PAGE_PROMISE } from '../charts/chart-html.ts'
import { builtFile } from './built-file.ts'

let html: string | undefined

/**
 * The script that puts the page runtime (Vega, Vega-Lite, vega-embed) into a page: compressed, in
 * one piece, without network. A page that has it already ignores it.
 */
export function pageRuntimeHtml(): string {
  html ??= wrap(
    gzipSync(readFileSync(builtFile('page-runtime.js')), { level: 9 }).toString('base64'),
  )
  return html
}

function wrap(payload: string): string {
  return (
    `<script type="module" data-flowdelta-runtime>${PAGE_PROMISE};if(!globalThis.flowdeltaPage.started){globalThis.flowdeltaPage.started=true;` +
    `const bytes=Uint8Array.from(atob("${payload}"),(c)=>c.charCodeAt(0));` +
    `const text=await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();` +
    `const script=document.createElement("script");script.textContent=text;document.head.append(script)}</script>`
  )
}
