/** One output of a cell, as nbformat 4.5 stores it but with its text in one piece. */
export interface Output {
  output_type: 'stream' | 'display_data' | 'execute_result' | 'error'
  name?: 'stdout' | 'stderr'
  text?: string
  data?: Record<string, unknown>
  metadata?: Record<string, unknown>
}

export interface ExecutedCell {
  type: 'markdown' | 'code' | 'raw'
  source: string
  outputs: Output[]
  executionCount: number | null
}

export interface NotebookRun {
  path: string
  title: string
  cells: ExecutedCell[]
}

export interface RunOptions {
  /** For one cell; default 2 minutes. */
  timeoutMs?: number
  /** Added to the kernel's environment. */
  env?: Record<string, string>
  onCell?: (done: number, total: number) => void
}

/** A cell failed, or the kernel did. */
export class NotebookError extends Error {}

/** Runs the cells of a notebook in order, in its own folder. */
export function runNotebook(path: string, options?: RunOptions): Promise<NotebookRun>

/** Writes the outputs of a run into its notebook, so that the same run gives the same file. */
export function writeOutputs(run: NotebookRun): void

/** The notebooks of this repository, in order. */
export function listNotebooks(): string[]
