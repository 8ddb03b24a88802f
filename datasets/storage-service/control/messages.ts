/** From the recorder to a process it started. */
export interface Command {
  readonly id: number
  readonly name: string
  readonly payload: unknown
}

/** From the process to the recorder. */
export type Report =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'progress'; readonly requests: number }
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly error: string }
