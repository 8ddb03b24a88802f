/** Reads an entry that is known to be there, such as one within a typed array's length. */
export function at<T>(values: ArrayLike<T>, index: number): T {
  return values[index] as T
}

export function addAt(values: { [index: number]: number }, index: number, amount: number): void {
  values[index] = (values[index] as number) + amount
}
