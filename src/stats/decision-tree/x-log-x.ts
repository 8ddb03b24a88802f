// Called several times for every possible cut: indexes with `!`.

/** x·log2 x for x of 0 or more; 0 for 0 and for what rounding left below. */
export type XLogX = (x: number) => number

/**
 * x·log2 x, with the whole numbers up to `most` looked up: counts of rows are whole where no value
 * is missing.
 *
 * @example
 * xLogX(8)(4) // 8
 */
export function xLogX(most: number): XLogX {
  const table = Float64Array.from({ length: most + 1 }, (_, x) => direct(x))
  return (x) => {
    const whole = x | 0
    return whole === x && whole >= 0 && whole <= most ? table[whole]! : direct(x)
  }
}

function direct(x: number): number {
  return x > 0 ? x * Math.log2(x) : 0
}
