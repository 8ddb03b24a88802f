/**
 * Returns a function whose result for each object is computed once and kept as long as the object is.
 *
 * @param compute depends on the object alone; nobody may change what it returns
 */
export function remembered<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>()
  return (of) => {
    const found = known.get(of) ?? { value: compute(of) }
    known.set(of, found)
    return found.value
  }
}
