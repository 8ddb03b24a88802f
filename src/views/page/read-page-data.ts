import type { PageData } from './page-data.ts'

export async function readPageData(data: PageData): Promise<unknown> {
  if ('json' in data) return data.json
  const bytes = Uint8Array.from(atob(data.gzip), (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(stream).json()
}
