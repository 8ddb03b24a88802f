import type { NotebookRun } from './notebook-runner.mjs'

/** A notebook that has run, as one HTML page without any reference outside of it. */
export function notebookPage(run: NotebookRun): string

/** The page that links the others. */
export function indexPage(pages: readonly { file: string; title: string }[]): string
