// Read for each of thousands of permutations: the loops index with `!`.

/** Samples merged in ascending order. */
export interface PooledLabels {
  /** For each pooled value the number of its sample. */
  readonly labels: Uint16Array
  /** Where each group of equal values ends, ascending; the last is the number of values. */
  readonly ends: Uint32Array
}

/** Merges ascending samples. */
export function pooledLabels(samples: readonly ArrayLike<number>[]): PooledLabels {
  const read = new Uint32Array(samples.length)
  const labels = new Uint16Array(samples.reduce((sum, { length }) => sum + length, 0))
  const ends: number[] = []
  for (let place = 0; place < labels.length; ) {
    let value = Number.POSITIVE_INFINITY
    for (const [label, sample] of samples.entries()) {
      if (read[label]! < sample.length) value = Math.min(value, sample[read[label]!]!)
    }
    for (const [label, sample] of samples.entries()) {
      for (; sample[read[label]!] === value; read[label]!++) labels[place++] = label
    }
    ends.push(place)
  }
  return { labels, ends: Uint32Array.from(ends) }
}
