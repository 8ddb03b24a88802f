import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { FlowdeltaError } from '../../core/errors.ts'
import { setSvgRenderer } from '../charts/chart.ts'

export function connectCharts(): void {
  // Vega takes a while to load and not every program draws: it is loaded with the first chart.
  setSvgRenderer((spec) =>
    createRequire(import.meta.url)(builtFile('chart-runtime.cjs')).renderSvg(spec),
  )
}

/** Returns the path of a built file, whether `dist/` itself or the sources under a test runner runs. */
export function builtFile(name: string): string {
  const candidates = [`./${name}`, `../../../dist/${name}`].map((relative) =>
    fileURLToPath(new URL(relative, import.meta.url)),
  )
  const found = candidates.find((path) => existsSync(path))
  if (found === undefined) {
    throw new FlowdeltaError(
      `${name} is missing beside flowdelta (looked for ${candidates.join(' and ')}). Run npm run build, or install flowdelta again.`,
    )
  }
  return found
}
