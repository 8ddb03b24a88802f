import { getOrInsert } from './entries.ts'

/** Computes a result once per object and keeps it while the object lives; nobody may change it. */
export function remembered<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>()
  return (of) => {
    const found = known.get(of) ?? { value: compute(of) }
    known.set(of, found)
    return found.value
  }
}

/** Computes a result once per text or number and keeps it while the function lives. */
export function memoized<K, V>(compute: (of: K) => V): (of: K) => V {
  const known = new Map<K, V>()
  return (of) => getOrInsert(known, of, compute)
}
