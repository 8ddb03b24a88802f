import type { NotebookRun } from './notebook-runner.mjs'

export interface Page {
  file: string
  title: string
}

/** Writes a page for every notebook, and an index. */
export function writePages(): Promise<{ pages: Page[]; failures: string[] }>

/** Runs a notebook and writes its page. */
export function writePage(notebook: string): Promise<NotebookRun & { file: string }>
