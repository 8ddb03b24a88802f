import { greatest, sum } from 'd3-array'
import { getOrInsert } from '../../../core/entries.ts'
import { OptionError, requireArgument } from '../../../core/errors.ts'
import { count, custom, defineOptions, type OptionsOf, share } from '../../../core/options.ts'
import { own, rowTable, Stage, type StageTable } from '../../../core/stage.ts'

/** Messages of one form. */
interface LogPattern {
  /** Writer of the message: a class, a service, `threw` and an exception; `''` if unknown. */
  readonly component: string
  /** Text with wildcards: `<*>` for one token, `<num>` and the like for the matches of masks. */
  readonly text: string
}

/** Kind of message in free text, and its name. */
interface LogTemplate {
  readonly id: number
  /** The name of its event, and the beginning of those of its state variables. */
  readonly name: string
  /** Patterns that it matches; several if templates were merged. */
  readonly patterns: readonly LogPattern[]
  /** Messages it was mined from. */
  readonly count: number
  /** The first of them. */
  readonly example: string
}

/**
 * The templates that free text in logs is named by, as `mineLogTemplates` finds them. Immutable: editing returns new
 * ones, which option `templates` of `loadLogs` takes.
 *
 * @example
 * const log = { name: 'node.log', bytes: '2015-10-17 21:47:48 sent 5 kB\n2015-10-17 21:47:49 sent 7 kB' }
 * const templates = await mineLogTemplates([log])
 * templates.table().get('template', 0) // 'sent <num> kB'
 * const edited = templates.rename('sent <num> kB', 'send')
 * const logs = await loadLogs({ before: [log], after: [] }, { templates: edited })
 * logs.events.names // [ 'send' ]
 * logs.states.names // [ 'send #1' ]
 */
export class LogTemplates extends Stage {
  /** Templates by number of messages, most first, unless edited. */
  readonly templates: readonly LogTemplate[]
  readonly masks: readonly LogMask[]

  constructor(templates: readonly LogTemplate[], masks: readonly LogMask[]) {
    super()
    for (const one of [templates, masks]) {
      requireArgument('new LogTemplates(templates, masks)', one, Array.isArray(one), 'an array')
    }
    this.templates = templates
    this.masks = masks
  }

  get size(): number {
    return this.templates.length
  }

  /** Returns one row per template: id, template (its name), count of messages, and the first of them. */
  table(): StageTable {
    return rowTable(this.templates, { id: 'id', template: 'name', ...own('count example') })
  }

  /**
   * Calls a template something else. Templates of one name are one event.
   *
   * @param which its id or its name
   * @throws OptionError for a template there is none of
   */
  rename(which: number | string, name: string): LogTemplates {
    const renamed = this.#find(which)
    const templates = this.templates.map((one) => (renamed.includes(one) ? { ...one, name } : one))
    return new LogTemplates(templates, this.masks)
  }

  /**
   * Makes one template of several.
   *
   * @param which their ids or names
   * @param name default: that of the first
   * @throws OptionError for a template there is none of, or fewer than two
   */
  merge(which: readonly (number | string)[], name?: string): LogTemplates {
    const merged = [...new Set(which.flatMap((one) => this.#find(one)))]
    const [first] = merged
    if (first === undefined || merged.length < 2) {
      throw new OptionError('which', which.join(', '), 'the ids or names of two templates or more')
    }
    const whole: LogTemplate = {
      ...first,
      name: name ?? first.name,
      patterns: merged.flatMap(({ patterns }) => patterns),
      count: sum(merged, ({ count }) => count),
    }
    const templates = this.templates.flatMap((one) => {
      if (one === first) return whole
      return merged.includes(one) ? [] : one
    })
    return new LogTemplates(templates, this.masks)
  }

  #find(which: number | string): LogTemplate[] {
    const found = this.templates.filter(({ id, name }) => id === which || name === which)
    if (found.length > 0) return found
    throw new OptionError('which', which, 'the id or the name of a template, as table() shows them')
  }
}

/** Returns the name of a template that nobody has named. */
export function templateName(component: string, text: string): string {
  if (component === '') return text === '' ? '(empty)' : text
  return text === '' ? component : `${component}: ${text}`
}

/** A kind of variable that is recognized by how it is written. */
export interface LogMask {
  /** Shown between angle brackets: `<ip>`. */
  readonly name: string
  /** Without named groups. */
  readonly pattern: RegExp
  /** Whether its matches are numbers, and so state variables. Default: `false`. */
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
  // Text joined to a number by "-" or "_" names the thing that the number identifies.
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
  readonly shown: readonly string[]
  /** Names of masks whose matches are numbers. */
  readonly numbers: ReadonlySet<string>
  readonly #pattern: RegExp | undefined
  /** Group of each mask, and of the one after the last. */
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

  /** Returns the text with the matches of masks replaced, and these matches. */
  mask(text: string): { readonly text: string; readonly values: readonly string[] } {
    let masked = ''
    let from = 0
    const matches = this.#matches(text)
    for (const found of matches) {
      masked += text.slice(from, found.index) + this.#shownAs(found)
      from = found.index + found[0].length
    }
    return { text: masked + text.slice(from), values: matches.map(([value]) => value) }
  }

  /** Returns the places in a text where masks match. */
  spans(text: string): [start: number, end: number][] {
    return this.#matches(text).map(({ 0: found, index }) => [index, index + found.length])
  }

  /** Returns the matches that are not empty. */
  #matches(text: string): RegExpExecArray[] {
    const matches: RegExpExecArray[] = []
    const pattern = this.#pattern
    if (pattern === undefined) return matches
    pattern.lastIndex = 0
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      if (found[0] === '') pattern.lastIndex++
      else matches.push(found)
    }
    return matches
  }

  #shownAs(found: RegExpExecArray): string {
    let mask = 0
    while (found[this.#groups[mask] as number] === undefined) mask++
    return this.shown[mask] as string
  }
}

/** Options of `mineLogTemplates`, and of `loadLogs` as `mining`. */
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
    sentence: 'Maximum number of tokens that a node distinguishes; later ones go to its wildcard',
  }),
  maxTemplates: count({
    default: 10_000,
    unit: 'templates',
    sentence: 'Maximum number of groups; later messages that fit none have no template',
  }),
  masks: custom<readonly LogMask[]>({
    default: DEFAULT_MASKS,
    sentence: 'Patterns that are variables wherever they stand, in order of precedence',
    accepts: Array.isArray,
    expected: 'a list of masks { name, pattern }',
  }),
})
export type MiningOptions = Partial<OptionsOf<typeof MINING_OPTIONS>>

const MAX_KNOWN = 1 << 16
const SHOWN = /<(?:\*|\w+)>/g
const PUNCTUATION = /[,;:.)\]}]*$/

/** Placeholder where the messages of a template differ. */
export const WILDCARD = '<*>'

/** Returns the tokens of a text: what stands between white space. */
export function tokensOf(text: string): string[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : trimmed.split(/\s+/)
}

export interface TemplateMatch {
  readonly name: string
  /** Wildcard that each value of the masked text stands for, 0 for none with a number. */
  readonly wildcards: readonly number[]
  /** Codes of the state variables, parallel to `wildcards`; the caller sets them. */
  readonly states: number[]
}

interface Candidate {
  readonly name: string
  readonly tokens: readonly string[]
  readonly wild: number
}

/** Finds the template of a text: of those that match every token, the one with fewest wildcards. */
export class TemplateMatcher {
  readonly #masker: Masker
  /** Candidates by component and number of tokens, fewest wildcards first. */
  readonly #candidates = new Map<string, Candidate[]>()
  readonly #known = new Map<string, TemplateMatch | null>()

  constructor({ templates, masks }: LogTemplates) {
    this.#masker = new Masker(masks)
    for (const { name, patterns } of templates) {
      for (const { component, text } of patterns) {
        const tokens = tokensOf(text)
        const wild = tokens.filter((token) => token === WILDCARD).length
        const key = `${tokens.length} ${component}`
        getOrInsert(this.#candidates, key, () => []).push({ name, tokens, wild })
      }
    }
    for (const candidates of this.#candidates.values()) candidates.sort((a, b) => a.wild - b.wild)
  }

  /** Returns the template of a text, and the values in place of its masks; undefined if none matches. */
  match(
    component: string,
    text: string,
  ): { readonly match: TemplateMatch; readonly values: readonly string[] } | undefined {
    const masked = this.#masker.mask(text)
    const key = component === '' ? masked.text : `${component}\n${masked.text}`
    let match = this.#known.get(key)
    if (match === undefined) {
      match = this.#find(component, masked.text, masked.values.length)
      if (this.#known.size === MAX_KNOWN) this.#known.clear()
      this.#known.set(` ${key}`.slice(1), match)
    }
    return match === null ? undefined : { match, values: masked.values }
  }

  #find(component: string, masked: string, values: number): TemplateMatch | null {
    const tokens = tokensOf(masked)
    const found = this.#candidates
      .get(`${tokens.length} ${component}`)
      ?.find((one) => one.tokens.every((token, i) => token === WILDCARD || token === tokens[i]))
    if (found === undefined) return null
    const wildcards = this.#wildcardsOf(found.tokens, tokens)
    // Text that only looks like a mask would shift the values.
    const isSure = wildcards.length === values
    return { name: found.name, wildcards: isSure ? wildcards : [], states: [] }
  }

  #wildcardsOf(template: readonly string[], tokens: readonly string[]): number[] {
    const { shown, numbers } = this.#masker
    const wildcards: number[] = []
    let place = 0
    for (const [i, token] of tokens.entries()) {
      const masks = (token.match(SHOWN) ?? []).filter((text) => shown.includes(text))
      const isWild = template[i] === WILDCARD
      if (isWild) place++
      const isOneNumber = masks.length === 1 && token.replace(PUNCTUATION, '') === masks[0]
      for (const mask of masks) {
        if (!isWild) place++
        const isNumber = numbers.has(mask) && (!isWild || isOneNumber)
        wildcards.push(isNumber ? place : 0)
      }
    }
    return wildcards
  }
}

interface MessageGroup {
  readonly component: string
  /** Tokens common to all of them, with wildcards for the rest. */
  tokens: string[]
  count: number
  readonly example: string
}

interface Node {
  readonly children: Map<string, Node>
  /** Groups of a leaf. */
  readonly groups: MessageGroup[]
}

/**
 * Groups messages by their form as they come. A tree (component, number of tokens, first tokens) leads to a few groups.
 * The most similar group takes the message and keeps the tokens that both have in common.
 *
 * Unlike in the paper, messages of different components or levels (`INFO`, `[WARN]`) are never one group, and a level
 * does not count as a token in common: it says nothing of the subject.
 *
 * Source: P. He, J. Zhu, Z. Zheng and M. R. Lyu, Drain: an online log parsing approach with fixed
 * depth tree, ICWS 2017.
 */
export class DrainTree {
  readonly groups: MessageGroup[] = []
  readonly #options: Required<Omit<MiningOptions, 'masks'>>
  readonly #roots = new Map<string, Node>()

  constructor(options: Required<Omit<MiningOptions, 'masks'>>) {
    this.#options = options
  }

  /** Returns the group of a message; `undefined` if it needs one more than there may be. */
  add(component: string, tokens: readonly string[], example: string): MessageGroup | undefined {
    const level = levelIn(tokens)
    const leaf = this.#leafOf(component, tokens, level)
    const least = this.#options.similarity * (tokens.length - Number(level >= 0))
    const group = mostSimilar(leaf.groups, tokens, { least, level })
    if (group !== undefined) {
      group.count++
      for (const [i, token] of tokens.entries()) {
        if (group.tokens[i] !== token) group.tokens[i] = WILDCARD
      }
      return group
    }
    if (this.groups.length === this.#options.maxTemplates) return undefined
    const added = { component, tokens: [...tokens], count: 1, example }
    leaf.groups.push(added)
    this.groups.push(added)
    return added
  }

  #leafOf(component: string, tokens: readonly string[], level: number): Node {
    const key = `${tokens.length} ${level < 0 ? '' : `${level} ${tokens[level]} `}${component}`
    let node = getOrInsert(this.#roots, key, newNode)
    const leading = tokens.filter((_, i) => i !== level).slice(0, this.#options.depth - 2)
    for (const token of leading) node = this.#childOf(node, token)
    return node
  }

  /** Tokens with digits are most likely variables; they share a child with tokens that find no room. */
  #childOf({ children }: Node, token: string): Node {
    const known = children.get(token)
    if (known !== undefined) return known
    // One place is kept for the wildcard.
    const isFull = children.size >= this.#options.maxChildren - (children.has(WILDCARD) ? 0 : 1)
    const key = /\d/.test(token) || isFull ? WILDCARD : token
    return getOrInsert(children, key, newNode)
  }
}

function newNode(): Node {
  return { children: new Map(), groups: [] }
}

/** Returns the group with most tokens in common; of equal ones, that with most wildcards. */
function mostSimilar(
  groups: readonly MessageGroup[],
  tokens: readonly string[],
  { least, level }: { readonly least: number; readonly level: number },
): MessageGroup | undefined {
  const all = groups.map((group) => {
    let same = 0
    let wild = 0
    for (let i = 0; i < tokens.length; i++) {
      const token = group.tokens[i]
      if (token === WILDCARD) wild++
      else if (token === tokens[i] && i !== level) same++
    }
    return { group, same, wild }
  })
  const able = all.filter(({ same }) => same >= least)
  return greatest(able, (a, b) => a.same - b.same || a.wild - b.wild)?.group
}

const LEVEL =
  /^(?:[[(<](?:trace|debug|info|notice|warn|warning|error|severe|critical|fatal|TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)[\])>]|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)):?$/
/** Number of first tokens searched for a level: it may stand behind a host or a thread. */
const LEVEL_TOKENS = 3

/** Returns the place of the level that a message begins with, or −1. */
function levelIn(tokens: readonly string[]): number {
  return tokens.slice(0, LEVEL_TOKENS).findIndex((token) => LEVEL.test(token))
}
