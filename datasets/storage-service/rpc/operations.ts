import type { Period } from '../volumes/period.ts'

/** What a service offers: per operation, what goes in and what comes out (bytes travel beside). */
export type Operations<Service> = {
  [Operation in keyof Service]: { readonly args: object; readonly result: object }
}

export interface RequestHeader {
  readonly period: Period
  readonly id: number
  readonly operation: string
  readonly args: object
  /** W3C trace context (`traceparent`) of the caller's span. */
  readonly trace: Record<string, string>
}

export type AnswerHeader =
  | { readonly id: number; readonly result: object }
  | { readonly id: number; readonly error: string }

export const NO_BYTES: Buffer = Buffer.alloc(0)
