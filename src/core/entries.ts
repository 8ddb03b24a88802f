/** Reads an entry that is known to be there, such as one within a typed array's length. */
export function at<T>(values: ArrayLike<T>, index: number): T {
  return values[index] as T
}

export function addAt(values: { [index: number]: number }, index: number, amount: number): void {
  values[index] = (values[index] as number) + amount
}

/** Returns the entry under a key; made, and kept, where there is none yet. */
export function getOrInsert<K, V>(
  entries: Pick<Map<K, V>, 'get' | 'set'>,
  key: K,
  make: (key: K) => NoInfer<V>,
): V {
  const known = entries.get(key)
  if (known !== undefined) return known
  const made = make(key)
  entries.set(key, made)
  return made
}
