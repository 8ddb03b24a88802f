/** Labels in an order, and with hashes, that are the same in every run and on every machine. */
export interface LabelOrder {
  /** Place of each label among all, by UTF-16 code units. */
  readonly ranks: Uint32Array
  /** Of each label's text, below 2⁴⁷. */
  readonly hashes: Float64Array
}

export function labelOrder(texts: readonly string[]): LabelOrder {
  const ranks = new Uint32Array(texts.length)
  texts
    .map((text, code) => ({ text, code }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .forEach(({ code }, rank) => {
      ranks[code] = rank
    })
  return { ranks, hashes: Float64Array.from(texts, hashText) }
}

function hashText(text: string): number {
  let hash = 17
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 2 ** 47
  return hash
}
