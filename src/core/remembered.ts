import { getOrInsert } from './entries.ts'

/** Computes a result once an object, kept as long as that is; nobody may change it. */
export function remembered<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>()
  return (of) => {
    const found = known.get(of) ?? { value: compute(of) }
    known.set(of, found)
    return found.value
  }
}

/** The same of texts and numbers, kept as long as the function is. */
export function memoized<K, V>(compute: (of: K) => V): (of: K) => V {
  const known = new Map<K, V>()
  return (of) => getOrInsert(known, of, compute)
}
