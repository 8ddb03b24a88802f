/** A number in prose, as it is written: `1,100`, `99 %`, `1.01 ms`. */
export interface Claim {
  readonly text: string
  readonly value: number
  readonly decimals: number
  readonly unit: string
  /** The two words after it, `of the`, or none where the sentence ends sooner. */
  readonly next: string
}

/** Numbers that stand alone: no part of names, versions, sections, dates or exponents. */
const NUMBER =
  /(?<![\w.,:§#/×^²-])(?<digits>\d{1,3}(?:,\d{3})+|\d+)(?<fraction>\.\d+)?(?![\w.,:/]*\w)(?:[ -](?<unit>%|µs|ms|s|KB|MB)(?!\w))?/g

const NEXT_WORDS = /^ ([a-z]+ [a-z]+ [a-z]+)/

/** By what a number of a unit is multiplied where it was printed in another one. */
const FACTORS: Readonly<Record<string, readonly number[]>> = {
  '%': [1, 100],
  µs: [1, 1e3],
  ms: [1, 1e-3, 1e3],
  s: [1, 1e-3, 1e-6],
  KB: [1, 1e-3, 1 / 1024],
  MB: [1, 1e-3, 1e-6],
}

/** The numbers that prose claims; code and addresses claim nothing. */
export function claimsOf(markdown: string): readonly Claim[] {
  const prose = markdown
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(
      /\b(?:Tables?|Figures?) \d+\.\d+(?: (?:and|to) \d+\.\d+)*|\b[A-Z]\w+ (?:19|20)\d\d/g,
      'source',
    )
    .replace(/\bnotebook \d+/gi, 'notebook')
    .replace(/^#+ +\d+\. /gm, '# ')
    .replace(/^\d+\. /gm, '')
  return Array.from(prose.matchAll(NUMBER), ({ 0: text, index, groups = {} }) => {
    const { digits = '', fraction = '', unit = '' } = groups
    const value = Number(`${digits.replaceAll(',', '')}${fraction}`)
    const [, next = ''] = NEXT_WORDS.exec(prose.slice(index + text.length)) ?? []
    return { text, value, decimals: Math.max(0, fraction.length - 1), unit, next }
  })
}

/** All numbers in what cells print, and in the code that makes them. */
export function numbersIn(text: string): readonly number[] {
  return Array.from(
    text.matchAll(/\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:_\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?/g),
    ([number]) => Number(number.replace(/[,_]/g, '')),
  )
}

/**
 * Whether text has a number that, rounded as the claim is, is the claim's. Where text has numbers with
 * the words that follow the claim, `of the slowdown`, it is one of those.
 */
export function isFound({ value, decimals, unit, next }: Claim, text: string): boolean {
  const factors = FACTORS[unit] ?? [1]
  const isAmong = (numbers: readonly number[]) =>
    numbers.some((number) =>
      factors.some((factor) => Number((number * factor).toFixed(decimals)) === value),
    )
  const said = Array.from(
    text.matchAll(new RegExp(`([\\d.,]+) ?${unit}\\s+${next.replaceAll(' ', '\\s+')}\\b`, 'g')),
    ([, number = '']) => number,
  )
  return isAmong(numbersIn(next === '' || said.length === 0 ? text : said.join(' ')))
}
