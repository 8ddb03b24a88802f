import { axisUnit, roundUp } from '../charts/axes.ts'

export interface AxisScale {
  readonly ticks: readonly { readonly value: number; readonly text: string }[]
  /** Place of a value; the nearer end if it is beyond the axis. */
  readonly share: (value: number) => number
  readonly value: (share: number) => number
}

export function timeScale([fromUs, toUs]: readonly [number, number], most: number): AxisScale {
  const [factor] = timeUnit([fromUs, toUs])
  const lengthUs = toUs - fromUs
  const step = roundUp(lengthUs / factor / most) * factor
  const first = Math.ceil(fromUs / step - 1e-9)
  const last = Math.floor(toUs / step + 1e-9)
  return {
    share: (us) => Math.min(1, Math.max(0, lengthUs > 0 ? (us - fromUs) / lengthUs : 0)),
    value: (share) => fromUs + share * lengthUs,
    ticks: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
      const value = Number(((first + i) * step).toPrecision(12))
      return { value, text: timeText(value, [fromUs, toUs]) }
    }),
  }
}

/** Returns a time as an axis that spans others would write it: `12.35 s`. */
export function timeText(timeUs: number, span: readonly [number, number]): string {
  const [factor, unit] = timeUnit(span)
  const number = Number((timeUs / factor).toPrecision(6))
  return number === 0 ? '0' : `${number} ${unit}`
}

function timeUnit([fromUs, toUs]: readonly [number, number]) {
  return axisUnit(Math.max(Math.abs(fromUs), Math.abs(toUs)))
}

export interface PlotBox {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}
