import type { ComponentChildren } from 'preact'

export interface Picture {
  readonly title: string
  /** What to look for and what it says, sentence by sentence; `false` for nothing. */
  readonly subtitle: readonly (string | false)[]
  readonly omissions: readonly (string | false)[]
  readonly width: number
  readonly height: number
  readonly drawing: ComponentChildren
}
