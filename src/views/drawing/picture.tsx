import type { ComponentChildren } from 'preact'
import { Caption, Figure } from './figure.tsx'
import { renderStill } from './render-still.tsx'

/** A drawing with the words that stand above it. */
export interface Picture {
  readonly title: string
  /** What to look for and what it says, sentence by sentence. */
  readonly subtitle: readonly string[]
  /** What was left out to keep the drawing small; empty when it holds everything. */
  readonly omissions: readonly string[]
  readonly width: number
  readonly height: number
  /** Contents of an `<svg>` of that size. */
  readonly drawing: ComponentChildren
}

/** Returns a picture as an SVG document of its own, on white. */
export function pictureSvg({
  title,
  subtitle,
  omissions,
  width,
  height,
  drawing,
}: Picture): string {
  return renderStill(
    <>
      <Caption text={[...subtitle, ...omissions].join(' ')} />
      <Figure width={Math.ceil(width)} height={Math.ceil(height)} label={title}>
        {drawing}
      </Figure>
    </>,
    title,
  )
}
