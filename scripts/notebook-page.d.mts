import type { NotebookRun } from './notebook-runner.mjs'
import type { Chapter } from './notebooks/book.mjs'

/** A notebook that has run, as one HTML page without any reference outside of it. */
export function notebookPage(run: NotebookRun): string

/** The page that links the others. */
export function indexPage(chapters: readonly Chapter[]): string

/** The name of a notebook's page. */
export function pageName(notebook: string): string
