export interface Point {
  readonly x: number
  readonly y: number
}

export function smoothPath(points: readonly Point[], along: 'x' | 'y'): string {
  return points
    .map(({ x, y }, i) => {
      const before = points[i - 1]
      if (before === undefined) return `M${tenth(x)},${tenth(y)}`
      const [middleX, middleY] = [(before.x + x) / 2, (before.y + y) / 2]
      const bends =
        along === 'x'
          ? `${tenth(middleX)},${tenth(before.y)} ${tenth(middleX)},${tenth(y)}`
          : `${tenth(before.x)},${tenth(middleY)} ${tenth(x)},${tenth(middleY)}`
      return `C${bends} ${tenth(x)},${tenth(y)}`
    })
    .join('')
}

export function tenth(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
