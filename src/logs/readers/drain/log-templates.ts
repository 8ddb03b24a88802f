import { greatest, sum } from 'd3-array'
import { getOrInsert } from '../../../core/entries.ts'
import { OptionError, requireArgument } from '../../../core/errors.ts'
import { own, rowTable, Stage, type StageTable } from '../../../core/stage.ts'

interface LogTemplate {
  readonly id: number
  /** The name of its event, and the beginning of those of its state variables. */
  readonly name: string
  /** `component` is the writer of the message: a class, a service, `threw` and an exception; `''` if unknown. */
  readonly patterns: readonly Readonly<Record<'component' | 'text', string>>[]
  readonly count: number
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
  readonly templates: readonly LogTemplate[]

  constructor(templates: readonly LogTemplate[]) {
    super()
    const isList = Array.isArray(templates)
    requireArgument('new LogTemplates(templates)', templates, isList, 'an array')
    this.templates = templates
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
    return new LogTemplates(templates)
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
    const others = this.templates.filter((one) => one === first || !merged.includes(one))
    return new LogTemplates(others.map((one) => (one === first ? whole : one)))
  }

  #find(which: number | string): LogTemplate[] {
    const found = this.templates.filter(({ id, name }) => id === which || name === which)
    if (found.length > 0) return found
    throw new OptionError('which', which, 'the id or the name of a template, as table() shows them')
  }
}

export function templateName(component: string, text: string): string {
  if (component === '') return text === '' ? '(empty)' : text
  return text === '' ? component : `${component}: ${text}`
}

const HEX = '[0-9a-fA-F]'
const FOUR = '\\d{1,3}(?:\\.\\d{1,3}){3}'

/** Addresses, times, paths, ids and numbers: variables wherever they stand. What comes first has precedence. */
const MASKS: readonly (readonly [name: string, source: string])[] = [
  ['url', '\\b[A-Za-z][A-Za-z0-9+.-]*://[^\\s,;)\\]}"\'>]+'],
  ['uuid', `\\b${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}\\b`],
  // A host name before the address belongs to it, and so does a port behind it.
  ['ip', `(?<![\\w./])(?:[\\w.-]*/)?${FOUR}(?::\\d+)?(?![\\w])(?!\\.\\d)`],
  [
    'ip',
    `(?<![\\w:])(?:(?:${HEX}{1,4}:){7}${HEX}{1,4}|(?:${HEX}{1,4}:)+(?::${HEX}{1,4})+|::1)(?![\\w:])`,
  ],
  [
    'time',
    '(?<!\\w)\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?(?!\\w)',
  ],
  ['time', '(?<![\\w:])\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?![\\w:])'],
  // Two parts at least: `/s` is a unit.
  ['path', '(?<![\\w<>/.*])(?:[A-Za-z]:)?(?:[\\\\/][\\w.+@%=~$-]+){2,}[\\\\/]?'],
  ['hex', `\\b(?:0x${HEX}+|(?=${HEX}*[0-9])(?=${HEX}*[a-fA-F])${HEX}{8,})\\b`],
  ['version', '(?<![\\w.])\\d+(?:\\.\\d+){2,}(?:[-+]\\w+)?(?![\\w])'],
  // Text joined to a number by "-" or "_" names the thing that the number identifies.
  ['id', '(?<=[A-Za-z][_-])\\d[0-9A-Za-z]*(?:[_.-]\\d[0-9A-Za-z]*)*(?::\\d+\\b)?'],
  // Up to three letters of a unit may follow.
  ['num', '(?<![\\w.])[-+]?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?(?=[A-Za-zµ%]{0,3}(?![\\w]))'],
]
const MASK = new RegExp(MASKS.map(([, source]) => `(${source})`).join('|'), 'g')
const NUMBER = '<num>'

/** Returns a text with the matches of masks replaced, the first of several that match, and these matches. */
export function masked(text: string) {
  const values: string[] = []
  const shown = text.replace(MASK, (found: string, ...groups: unknown[]) => {
    values.push(found)
    return `<${MASKS[groups.findIndex((group) => group !== undefined)]?.[0]}>`
  })
  return { text: shown, values }
}

export function maskedSpans(text: string): [start: number, end: number][] {
  return Array.from(text.matchAll(MASK), ({ 0: found, index }) => [index, index + found.length])
}

const MAX_KNOWN = 1 << 16
const SHOWN = new RegExp(`<(?:${MASKS.map(([name]) => name).join('|')})>`, 'g')
const PUNCTUATION = /[,;:.)\]}]*$/

export const WILDCARD = '<*>'

export function tokensOf(text: string): string[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : trimmed.split(/\s+/)
}

export interface TemplateMatch {
  readonly name: string
  /** Wildcard that each value of the masked text stands for, 0 for none with a number. */
  readonly wildcards: readonly number[]
  readonly states: number[]
}

/** Finds the template of a text: of those that match every token, the one with fewest wildcards. */
export class TemplateMatcher {
  readonly #candidates = new Map<string, { name: string; tokens: string[]; wild: number }[]>()
  readonly #known = new Map<string, TemplateMatch | null>()

  constructor({ templates }: LogTemplates) {
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
  match(component: string, text: string) {
    const { text: form, values } = masked(text)
    const key = `${component}\n${form}`
    let match = this.#known.get(key)
    if (match === undefined) {
      match = this.#find(component, form, values.length)
      if (this.#known.size === MAX_KNOWN) this.#known.clear()
      this.#known.set(` ${key}`.slice(1), match)
    }
    return match === null ? undefined : { match, values }
  }

  #find(component: string, form: string, values: number): TemplateMatch | null {
    const tokens = tokensOf(form)
    const found = this.#candidates
      .get(`${tokens.length} ${component}`)
      ?.find((one) => one.tokens.every((token, i) => token === WILDCARD || token === tokens[i]))
    if (found === undefined) return null
    const wildcards = wildcardsOf(found.tokens, tokens)
    // Text that only looks like a mask would shift the values.
    const isSure = wildcards.length === values
    return { name: found.name, wildcards: isSure ? wildcards : [], states: [] }
  }
}

function wildcardsOf(template: readonly string[], tokens: readonly string[]): number[] {
  const wildcards: number[] = []
  let place = 0
  for (const [i, token] of tokens.entries()) {
    const masks = token.match(SHOWN) ?? []
    const isWild = template[i] === WILDCARD
    if (isWild) place++
    const isOneNumber = masks.length === 1 && token.replace(PUNCTUATION, '') === masks[0]
    for (const mask of masks) {
      if (!isWild) place++
      wildcards.push(mask === NUMBER && (!isWild || isOneNumber) ? place : 0)
    }
  }
  return wildcards
}

export interface MessageGroup {
  readonly component: string
  tokens: string[]
  count: number
  readonly example: string
}

const LEADING_TOKENS = 2
const MIN_SIMILARITY = 0.5
const MAX_BRANCHES = 100
/** Most groups; later messages that fit none have no template. */
const MAX_GROUPS = 10_000

/**
 * Groups messages by their form as they come. Component, number of tokens and first tokens lead to a few groups.
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
  readonly #leaves = new Map<string, MessageGroup[]>()
  readonly #branches = new Map<string, Set<string>>()

  add(component: string, tokens: readonly string[], example: string): MessageGroup | undefined {
    const level = tokens.slice(0, LEVEL_TOKENS).findIndex((token) => LEVEL.test(token))
    const leaf = this.#leafOf(component, tokens, level)
    const least = MIN_SIMILARITY * (tokens.length - Number(level >= 0))
    const group = mostSimilar(leaf, tokens, { least, level })
    if (group !== undefined) {
      group.count++
      for (const [i, token] of tokens.entries()) {
        if (group.tokens[i] !== token) group.tokens[i] = WILDCARD
      }
      return group
    }
    if (this.groups.length === MAX_GROUPS) return undefined
    const added = { component, tokens: [...tokens], count: 1, example }
    leaf.push(added)
    this.groups.push(added)
    return added
  }

  #leafOf(component: string, tokens: readonly string[], level: number): MessageGroup[] {
    let key = `${tokens.length} ${level < 0 ? '' : `${level} ${tokens[level]} `}${component}`
    const leading = tokens.filter((_, i) => i !== level).slice(0, LEADING_TOKENS)
    for (const token of leading) key += `\n${this.#branch(key, token)}`
    return getOrInsert(this.#leaves, key, () => [])
  }

  #branch(key: string, token: string): string {
    const known = getOrInsert(this.#branches, key, () => new Set())
    if (known.has(token)) return token
    if (/\d/.test(token) || known.size === MAX_BRANCHES - 1) return WILDCARD
    known.add(token)
    return token
  }
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
