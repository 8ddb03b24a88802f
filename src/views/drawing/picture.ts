import type { ComponentChildren } from 'preact'

/** A drawing with the words that stand above it. */
export interface Picture {
  readonly title: string
  /** What to look for and what it says, sentence by sentence; `false` for nothing. */
  readonly subtitle: readonly (string | false)[]
  /** What was left out to keep the drawing small. */
  readonly omissions: readonly (string | false)[]
  readonly width: number
  readonly height: number
  /** Contents of an `<svg>` of that size. */
  readonly drawing: ComponentChildren
}
