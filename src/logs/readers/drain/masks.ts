import { OptionError } from '../../../core/errors.ts'
import { count, custom, defineOptions, type OptionsOf, share } from '../../../core/options.ts'

/** A kind of variable that is recognized by how it is written. */
export interface LogMask {
  /** Shown between angle brackets: `<ip>`. */
  readonly name: string
  /** Without named groups. */
  readonly pattern: RegExp
  /** Whether what it matches is a number, and so a state variable. Default: `false`. */
  readonly isNumber?: boolean
}

const HEX = '[0-9a-fA-F]'
const FOUR = '\\d{1,3}(?:\\.\\d{1,3}){3}'

/**
 * Addresses, times, paths, ids and numbers. What comes first has precedence. Edit a copy:
 * `[{ name: 'user', pattern: /(?<=user=)\w+/ }, ...DEFAULT_MASKS]`.
 */
export const DEFAULT_MASKS: readonly LogMask[] = [
  mask('url', '\\b[A-Za-z][A-Za-z0-9+.-]*://[^\\s,;)\\]}"\'>]+'),
  mask('uuid', `\\b${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}\\b`),
  // A host name before the address belongs to it, and so does a port behind it.
  mask('ip', `(?<![\\w./])(?:[\\w.-]*/)?${FOUR}(?::\\d+)?(?![\\w])(?!\\.\\d)`),
  mask(
    'ip',
    `(?<![\\w:])(?:(?:${HEX}{1,4}:){7}${HEX}{1,4}|(?:${HEX}{1,4}:)+(?::${HEX}{1,4})+|::1)(?![\\w:])`,
  ),
  mask(
    'time',
    '(?<!\\w)\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?(?!\\w)',
  ),
  mask('time', '(?<![\\w:])\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?![\\w:])'),
  // Two parts at least: `/s` is a unit.
  mask('path', '(?<![\\w<>/.*])(?:[A-Za-z]:)?(?:[\\\\/][\\w.+@%=~$-]+){2,}[\\\\/]?'),
  mask('hex', `\\b(?:0x${HEX}+|(?=${HEX}*[0-9])(?=${HEX}*[a-fA-F])${HEX}{8,})\\b`),
  mask('version', '(?<![\\w.])\\d+(?:\\.\\d+){2,}(?:[-+]\\w+)?(?![\\w])'),
  // What numbers are joined to by "-" or "_" says what they are ids of.
  mask('id', '(?<=[A-Za-z][_-])\\d[0-9A-Za-z]*(?:[_.-]\\d[0-9A-Za-z]*)*(?::\\d+\\b)?'),
  // Up to three letters of a unit may follow.
  {
    ...mask(
      'num',
      '(?<![\\w.])[-+]?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?(?=[A-Za-zµ%]{0,3}(?![\\w]))',
    ),
    isNumber: true,
  },
]

function mask(name: string, source: string): LogMask {
  return { name, pattern: new RegExp(source) }
}

/** Replaces what `masks` match, from left to right; where several match, the first of them. */
export class Masker {
  /** How masks are shown. */
  readonly shown: readonly string[]
  /** How masks are shown whose matches are numbers. */
  readonly numbers: ReadonlySet<string>
  readonly #pattern: RegExp | undefined
  /** The group of each mask, and that of what would come after them. */
  readonly #groups: readonly number[]

  /** @throws OptionError for a mask without a name or with a named group */
  constructor(masks: readonly LogMask[]) {
    for (const { name, pattern } of masks) {
      if (typeof name !== 'string' || !/^\w+$/.test(name)) {
        throw new OptionError('mining.masks', name, 'masks whose names are letters and digits')
      }
      if (!(pattern instanceof RegExp) || /\(\?<[A-Za-z]/.test(pattern.source)) {
        throw new OptionError('mining.masks', pattern, 'regular expressions without named groups')
      }
    }
    this.shown = masks.map(({ name }) => `<${name}>`)
    this.numbers = new Set(this.shown.filter((_, i) => masks[i]?.isNumber))
    let group = 1
    this.#groups = masks.map(({ pattern }) => {
      const own = group
      group += (new RegExp(`${pattern.source}|`).exec('') as RegExpExecArray).length
      return own
    })
    const sources = masks.map(({ pattern }) => `(${pattern.source})`)
    const isInsensitive = masks.some(({ pattern }) => pattern.flags.includes('i'))
    this.#pattern =
      masks.length === 0 ? undefined : new RegExp(sources.join('|'), isInsensitive ? 'gi' : 'g')
  }

  /** The text with what masks match replaced, and what stood in place of each. */
  mask(text: string): { readonly text: string; readonly values: readonly string[] } {
    const pattern = this.#pattern
    if (pattern === undefined) return { text, values: [] }
    pattern.lastIndex = 0
    let masked = ''
    let from = 0
    const values: string[] = []
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      const value = found[0]
      if (value === '') {
        pattern.lastIndex++
        continue
      }
      masked += text.slice(from, found.index) + this.#shownAs(found)
      from = found.index + value.length
      values.push(value)
    }
    return { text: from === 0 ? text : masked + text.slice(from), values }
  }

  #shownAs(found: RegExpExecArray): string {
    let mask = 0
    while (found[this.#groups[mask] as number] === undefined) mask++
    return this.shown[mask] as string
  }
}

export const MINING_OPTIONS = defineOptions({
  depth: count({
    default: 4,
    min: 3,
    unit: 'levels',
    sentence:
      'Depth of the tree: root, number of tokens, then a level for each of the first tokens',
  }),
  similarity: share({
    default: 0.5,
    sentence: 'Share of tokens that a message has in common with the group it joins',
  }),
  maxChildren: count({
    default: 100,
    unit: 'tokens',
    sentence: 'Most tokens that a node tells apart; later ones go to its wildcard',
  }),
  maxTemplates: count({
    default: 10_000,
    unit: 'templates',
    sentence: 'Most groups; later messages that fit none have no template',
  }),
  masks: custom<readonly LogMask[]>({
    default: DEFAULT_MASKS,
    sentence: 'Patterns that are variables wherever they stand, in order of precedence',
    accepts: Array.isArray,
    expected: 'a list of masks { name, pattern }',
  }),
})
export type MiningOptions = Partial<OptionsOf<typeof MINING_OPTIONS>>
