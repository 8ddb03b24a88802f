import { FlowdeltaError } from '../../core/errors.ts'
import type { VegaLiteSpec } from './vega-lite-spec.ts'

/** Draws a specification as an SVG document, synchronously. */
export type SvgRenderer = (spec: VegaLiteSpec) => string

let renderer: SvgRenderer | undefined

/** Makes `next` the renderer of every chart; the notebook layer registers Vega's. */
export function setSvgRenderer(next: SvgRenderer | undefined): void {
  renderer = next
}

/** Draws `spec` with the registered renderer. */
export function renderSvg(spec: VegaLiteSpec): string {
  if (renderer === undefined) {
    throw new FlowdeltaError(
      'A chart was asked for its SVG where nothing draws one. Import flowdelta by its main entry under Node, or give Chart.spec to a Vega-Lite viewer.',
    )
  }
  return renderer(spec)
}
