export interface Page {
  readonly source: string
  readonly file: string
  readonly title: string
  readonly html: string
  readonly ids: readonly string[]
  readonly links: readonly string[]
}
export function sitePages(): Page[]
export function writeSite(out: string): Page[]
