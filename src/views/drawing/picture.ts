import type { ComponentChildren } from 'preact'

export interface Picture {
  readonly title: string
  /** Sentences on how to read the picture and what it shows; `false` for none. */
  readonly subtitle: readonly (string | false)[]
  readonly omissions: readonly (string | false)[]
  readonly width: number
  readonly height: number
  readonly drawing: ComponentChildren
}
