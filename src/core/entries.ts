/**
 * Reads an entry that is known to be there, such as one within the length of a typed array.
 *
 * @example
 * at(Float64Array.of(3, 4), 1) // 4
 */
export function at<T>(values: ArrayLike<T>, index: number): T {
  return values[index] as T
}

/**
 * Adds to an entry that is known to be there.
 *
 * @example
 * addAt(Uint32Array.of(3, 4), 1, 2)
 */
export function addAt(values: { [index: number]: number }, index: number, amount: number): void {
  values[index] = (values[index] as number) + amount
}
