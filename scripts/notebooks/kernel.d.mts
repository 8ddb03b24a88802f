export interface Message {
  header: { msg_id: string; msg_type: string }
  parent_header: { msg_id?: string }
  content: Record<string, unknown>
}

export interface Kernel {
  /** Runs a cell; `messages` are what it published. */
  execute(code: string, timeoutMs: number): Promise<{ status: string; messages: Message[] }>
  /** Sends a request such as `complete_request`; `content` is that of its reply, if one came in time. */
  ask(
    type: string,
    request: object,
    timeoutMs: number,
  ): Promise<{ content: Record<string, unknown> | undefined; messages: Message[] }>
  /** Sends what Jupyter sends when its user interrupts a cell. */
  interrupt(): void
  /** What the kernel process itself printed. */
  log(): string
  /** Ends the process; harmless when repeated. */
  stop(): Promise<void>
}

/** Starts the kernel the kernelspec in the folder `kernelspec` describes. */
export function startKernel(options: { kernelspec: string; cwd: string }): Promise<Kernel>
