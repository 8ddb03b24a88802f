import { FlowdeltaError } from '../../core/errors.ts'

/**
 * A Vega-Lite specification. Deliberately loose: flowdelta's own charts are validated against
 * Vega-Lite's schema in tests, and a cell must be able to change any part of one.
 */
export interface VegaLiteSpec {
  $schema?: string
  [property: string]: unknown
}

export type SvgRenderer = (spec: VegaLiteSpec) => string

let renderer: SvgRenderer | undefined

export function setSvgRenderer(next: SvgRenderer | undefined): void {
  renderer = next
}

export function renderSvg(spec: VegaLiteSpec): string {
  if (renderer === undefined) {
    throw new FlowdeltaError(
      'No SVG renderer is loaded. Import flowdelta by its main entry under Node, or give Chart.spec to a Vega-Lite viewer.',
    )
  }
  return renderer(spec)
}
