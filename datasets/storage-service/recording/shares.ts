/** `total` requests in `blocks` shares that differ by one at most, the larger ones first. */
export function shares(total: number, blocks: number): number[] {
  return Array.from(
    { length: blocks },
    (_, i) => Math.floor(total / blocks) + (i < total % blocks ? 1 : 0),
  )
}
