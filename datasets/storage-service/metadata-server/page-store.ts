import type { Page } from './page.ts'

/** Where the pages of one index live. A page is read as it was last written. */
export interface PageStore {
  readonly pageBytes: number
  read(page: number): Promise<Page>
  write(page: number, content: Page): Promise<void>
}
