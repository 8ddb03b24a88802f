import { describe, expect, test } from 'vitest'
import { CHANGE_SCALE, PALETTE, SERIES, SIZE_SCALE } from '../../src/views/page/palette.ts'
import { CHANGE_COLORS } from '../../src/views/widgets/calling-contexts/frames.tsx'

/** Hue in degrees; undefined for grays. */
function hueOf(hex: string): number | undefined {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
  const [red = 0, green = 0, blue = 0] = parts
  const [low, high] = [Math.min(...parts), Math.max(...parts)]
  if (high - low < 12) return undefined
  const part =
    high === red
      ? (green - blue) / (high - low)
      : high === green
        ? 2 + (blue - red) / (high - low)
        : 4 + (red - green) / (high - low)
  return (part * 60 + 360) % 360
}

const isPurple = (hex: string) => (hueOf(hex) ?? 0) > 250 && (hueOf(hex) ?? 0) < 330
const isGreen = (hex: string) => (hueOf(hex) ?? 0) > 80 && (hueOf(hex) ?? 0) < 170

describe('purple', () => {
  test('is less and orange is more, in flame graphs as in ribbons', () => {
    expect(CHANGE_COLORS.light['change--3']).toBe(PALETTE.less)
    expect(CHANGE_COLORS.light['change-3']).toBe(PALETTE.change)
    for (const scheme of [0, 1] as const) {
      expect(CHANGE_SCALE.map((colors) => isPurple(colors[scheme]))).toEqual([
        true,
        true,
        true,
        false,
        false,
        false,
        false,
      ])
    }
  })

  test('has no other meaning, and green has none', () => {
    const others = [...SERIES, ...SIZE_SCALE.flat()]
    const { less: _, ...rest } = PALETTE
    expect([...others, ...Object.values(rest)].filter(isPurple)).toEqual([])
    expect([...others, ...Object.values(PALETTE), ...CHANGE_SCALE.flat()].filter(isGreen)).toEqual(
      [],
    )
  })
})
