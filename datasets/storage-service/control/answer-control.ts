import type { Command, Report } from './messages.ts'

/** What the recorder may ask of a process; the payload is plain data of the command's own type. */
export type Commands = Record<string, (payload: never) => Promise<unknown>>

/**
 * Announces this process as ready (answering RPCs on `port`, 0 if it does not), obeys the
 * recorder's commands, and ends as soon as the recorder is gone.
 */
export function answerControl(port: number, commands: Commands): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async ({ id, name, payload }: Command) => {
    try {
      const command = commands[name]
      if (command === undefined) throw new Error(`This process has no command ${name}.`)
      report({ kind: 'done', id, result: await command(payload as never) })
    } catch (error) {
      report({ kind: 'failed', id, error: error instanceof Error ? error.message : String(error) })
    }
  })
  report({ kind: 'ready', port })
}

export function report(message: Report): void {
  process.send?.(message)
}
