import { getOrInsert } from '../../../core/entries.ts'
import { type LogTemplates, Masker } from './log-templates.ts'

const MAX_KNOWN = 1 << 16
const SHOWN = /<(?:\*|\w+)>/g
const PUNCTUATION = /[,;:.)\]}]*$/

/** What a template has where its messages differ. */
export const WILDCARD = '<*>'

/** The tokens of a text: what stands between white space. */
export function tokensOf(text: string): string[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : trimmed.split(/\s+/)
}

export interface TemplateMatch {
  readonly name: string
  /** Of each value of the masked text: which wildcard of the template it stands for, 0 for no number. */
  readonly wildcards: readonly number[]
  /** Codes of the state variables, beside `wildcards`, which whoever asks gives it. */
  readonly states: number[]
}

interface Candidate {
  readonly name: string
  readonly tokens: readonly string[]
  readonly wild: number
}

/**
 * Finds the template of a text: of those that match every token, the one with fewest wildcards.
 * Texts that are equal after masking share one `TemplateMatch`.
 */
export class TemplateMatcher {
  readonly #masker: Masker
  /** By component and number of tokens, fewest wildcards first. */
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

  /** The template of a text, and what stood in place of its masks; undefined if none matches. */
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

  /** Where the masks stand in a text. */
  spans(text: string): [start: number, end: number][] {
    return this.#masker.spans(text)
  }

  #find(component: string, masked: string, values: number): TemplateMatch | null {
    const tokens = tokensOf(masked)
    const found = this.#candidates
      .get(`${tokens.length} ${component}`)
      ?.find((one) => one.tokens.every((token, i) => token === WILDCARD || token === tokens[i]))
    if (found === undefined) return null
    const wildcards = this.#wildcardsOf(found.tokens, tokens)
    // Text that only looks like a mask would shift what stands for what.
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
