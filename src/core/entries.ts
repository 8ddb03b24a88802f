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

/** Adds to the number under a key, which begins at 0. */
export function addTo<K>(numbers: Map<K, number>, key: K, amount: number): void {
  numbers.set(key, (numbers.get(key) ?? 0) + amount)
}

/** Returns how many items have each key. */
export function countBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, number> {
  const counts = new Map<K, number>()
  for (const item of items) addTo(counts, keyOf(item), 1)
  return counts
}

/** Divides items into those that meet a condition, and the others. */
export function divided<T>(
  items: Iterable<T>,
  meets: (item: T) => boolean,
): [meeting: T[], others: T[]] {
  const parts: [T[], T[]] = [[], []]
  for (const item of items) parts[meets(item) ? 0 : 1].push(item)
  return parts
}

/** Returns the values of several arrays in one of the given type. */
export function joined<Values extends Float64Array | Uint32Array | Uint8Array>(
  parts: readonly Values[],
  Type: new (length: number) => Values,
): Values {
  const all = new Type(parts.reduce((length, part) => length + part.length, 0))
  let start = 0
  for (const part of parts) {
    all.set(part, start)
    start += part.length
  }
  return all
}
