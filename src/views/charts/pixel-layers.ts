import type { SpecPart } from './chart-frame.ts'

/** A drawing whose places are pixels from the top left corner. */
export interface PixelSize {
  readonly width: number
  readonly height: number
}

/** Scales that take pixels as they are; the first layer of a drawing needs them. */
export function pixelScales({ width, height }: PixelSize): {
  readonly x: SpecPart
  readonly y: SpecPart
} {
  const exact = { nice: false, zero: false }
  return {
    x: {
      ...{ field: 'x', type: 'quantitative', axis: null },
      scale: { ...exact, domain: [0, Math.ceil(width)] },
    },
    y: {
      ...{ field: 'y', type: 'quantitative', axis: null },
      scale: { ...exact, domain: [0, Math.ceil(height)], reverse: true },
    },
  }
}

/** A text and where it stands. */
export interface PixelText {
  readonly x: number
  readonly y: number
  readonly text: string
  /** What the pointer reads; the text itself by default. */
  readonly whole?: string
}

/** A layer of texts that look alike, with the whole text for the pointer. */
export function textLayer(texts: readonly PixelText[], size: PixelSize, mark: SpecPart): SpecPart {
  return {
    data: {
      values: texts.map(({ x, y, text, whole = text }) => ({
        x: tenth(x),
        y: tenth(y),
        text,
        whole,
      })),
    },
    mark: { type: 'text', align: 'left', baseline: 'middle', fontSize: 11, ...mark },
    encoding: {
      ...pixelScales(size),
      text: { field: 'text', type: 'nominal' },
      tooltip: { field: 'whole', type: 'nominal' },
    },
  }
}

/** A tenth of a pixel exact. */
export function tenth(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
