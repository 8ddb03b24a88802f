export interface Declared {
  readonly name: string
  readonly code: string
  readonly comment: string
}
export function apiMarkdown(types: string): string
export function publicNames(entry: string): Declared[]
