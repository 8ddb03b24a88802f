import { scriptJson } from '../../core/escape.ts'

export type Compressor = (text: string) => string

let compressor: Compressor | undefined

/** Makes `next` compress what pages carry; the notebook layer registers Node's. */
export function setCompressor(next: Compressor | undefined): void {
  compressor = next
}

export type PageData = { readonly json: unknown } | { readonly gzip: string }

/** Shorter data is not worth compressing. */
const SHORTEST = 2000

export function pageData(value: unknown): string {
  const json = scriptJson(value)
  if (compressor === undefined || json.length < SHORTEST) return `{"json":${json}}`
  return `{"gzip":"${compressor(JSON.stringify(value))}"}`
}

export async function readPageData(data: PageData): Promise<unknown> {
  if ('json' in data) return data.json
  const bytes = Uint8Array.from(atob(data.gzip), (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(stream).json()
}
