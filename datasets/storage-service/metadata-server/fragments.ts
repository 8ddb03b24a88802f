import type { Distribution } from '../cases/configuration.ts'

/** Bytes of each part of a page of `pageBytes`. */
export function fragmentBytes(pageBytes: number, { data }: Distribution): number {
  return Math.ceil(pageBytes / data)
}

/** All parts, all of the same length: the data stripes, and then the parity. */
export function fragmentsOf(page: Buffer, distribution: Distribution): Buffer[] {
  const { data, parity } = distribution
  if (data > 1 && parity > 1) {
    throw new Error(`${data} stripes can have one parity part, not ${parity}.`)
  }
  const length = fragmentBytes(page.length, distribution)
  const stripes = Array.from({ length: data }, (_, i) => {
    const stripe = Buffer.alloc(length)
    page.copy(stripe, 0, i * length, (i + 1) * length)
    return stripe
  })
  return [...stripes, ...Array.from({ length: parity }, () => sum(stripes))]
}

/** The page again, from its data stripes. */
export function joinFragments(stripes: readonly Buffer[], pageBytes: number): Buffer {
  return Buffer.concat(stripes).subarray(0, pageBytes)
}

/** Exclusive or, byte by byte: of one stripe a copy, of several what restores a lost one. */
function sum(stripes: readonly Buffer[]): Buffer {
  const total = Buffer.from(stripes[0] ?? [])
  for (const stripe of stripes.slice(1)) {
    for (let i = 0; i < total.length; i++) total[i] = (total[i] ?? 0) ^ (stripe[i] ?? 0)
  }
  return total
}
