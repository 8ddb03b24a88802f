import { createRequire } from 'node:module'
import { setSvgRenderer } from '../charts/svg-renderer.ts'
import { builtFile } from './built-file.ts'

export function connectCharts(): void {
  setSvgRenderer((spec) => vegaRenderer().renderSvg(spec))
}

/** Vega takes a while to load and not every program draws: it is loaded with the first chart. */
function vegaRenderer(): typeof import('./vega-renderer.ts') {
  return createRequire(import.meta.url)(builtFile('chart-runtime.cjs'))
}
