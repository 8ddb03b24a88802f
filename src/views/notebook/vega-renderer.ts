import type { LoggerInterface, Runtime, Spec } from 'vega'
import * as vega from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { fingerprint } from '../../core/fingerprint.ts'
import { textWidth } from '../charts/text-width.ts'
import { closedLoader } from '../page/draw-chart.ts'

/** Measures of a view that Vega lays out, for which its public access is asynchronous only. */
interface LaidOutView {
  readonly _viewWidth: number
  readonly _viewHeight: number
  readonly _origin: readonly [number, number]
}

/** Vega exports this class and its type declarations do not. */
interface StringRenderer {
  initialize(el: null, width: number, height: number, origin: [number, number]): StringRenderer
  background(color: unknown): StringRenderer
  render(scene: unknown): { svg(): string }
}

const { SVGStringRenderer } = vega as unknown as {
  SVGStringRenderer: new (loader: unknown) => StringRenderer
}

/** Width of text as Vega measures it; without a canvas, it guesses far too wide. */
interface TextMetrics {
  width(item: { text?: unknown; fontSize?: number }, text?: unknown): number
}

const { textMetrics } = vega as unknown as { textMetrics: TextMetrics }

export function compileChart(spec: object) {
  const warnings: string[] = []
  textMetrics.width = (item, text) =>
    textWidth(String(text ?? item.text ?? ''), item.fontSize ?? 11)
  const logger = collectingLogger(warnings)
  const { spec: vegaSpec } = compile(spec as TopLevelSpec, { logger })
  const runtime: Runtime = vega.parse(vegaSpec as Spec)
  const view = new vega.View(runtime, {
    renderer: 'none',
    logger,
    loader: closedLoader(vega.loader),
  })
  try {
    return { svg: withOwnIds(drawSvg(view.run()), JSON.stringify(spec)), warnings }
  } finally {
    view.finalize()
  }
}

export function renderSvg(spec: object): string {
  return compileChart(spec).svg
}

function drawSvg(view: vega.View): string {
  vega.resetSVGDefIds()
  const { _viewWidth, _viewHeight, _origin } = view as unknown as LaidOutView
  const padding = view.padding() as { left: number; right: number; top: number; bottom: number }
  const width = Math.max(0, _viewWidth + padding.left + padding.right)
  const height = Math.max(0, _viewHeight + padding.top + padding.bottom)
  return new SVGStringRenderer(view.loader())
    .initialize(null, width, height, [padding.left + _origin[0], padding.top + _origin[1]])
    .background(view.background())
    .render((view.scenegraph() as unknown as { root: unknown }).root)
    .svg()
}

function collectingLogger(warnings: string[]): LoggerInterface {
  const logger: LoggerInterface = {
    level: ((value?: number) => (value === undefined ? 2 : logger)) as LoggerInterface['level'],
    error: (...problem) => {
      throw problem[0] instanceof Error ? problem[0] : new Error(problem.join(' '))
    },
    warn: (...problem) => {
      warnings.push(problem.join(' '))
      return logger
    },
    info: () => logger,
    debug: () => logger,
  }
  return logger
}

/** Gives an SVG its own ids: two SVGs in one document must not share the names of clip paths and gradients. */
function withOwnIds(svg: string, spec: string): string {
  const prefix = `v${fingerprint(spec)}-`
  return svg.replace(/( id="|url\(#)(clip|gradient_|pattern_)/g, `$1${prefix}$2`)
}
