import type { SpecPart } from './chart-frame.ts'

/** Scale and axis for a field that holds shares, shown as 0 to 100 %. */
export function shareAxis(title: string): { scale: SpecPart; axis: SpecPart } {
  const labelExpr = "format(datum.value * 100, 'd') + ' %'"
  return { scale: { domain: [0, 1] }, axis: { title, tickCount: 5, labelExpr } }
}
