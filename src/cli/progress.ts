const CLEAR_LINE = '\r\u001b[K'

/** Does work that Ctrl-C stops, for a reason; its line of progress is gone afterwards. */
export async function stoppable<T>(
  work: (signal: AbortSignal) => Promise<T>,
  reason?: Error,
): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort(reason)
  process.once('SIGINT', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop)
    clearProgress()
  }
}

/** Shows progress on standard error: in one line of a terminal, else in lines below each other. */
export function showProgress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? CLEAR_LINE + text : `${text}\n`)
}

export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE)
}
