import { getOrInsert } from '../../../core/entries.ts'
import type { MiningOptions } from './log-templates.ts'
import { WILDCARD } from './template-matcher.ts'

interface MessageGroup {
  readonly component: string
  /** What all of them have in common, with wildcards for the rest. */
  tokens: string[]
  count: number
  readonly example: string
}

interface Node {
  readonly children: Map<string, Node>
  /** Of a leaf. */
  readonly groups: MessageGroup[]
}

/**
 * Groups messages by their form as they come: a tree of fixed depth leads, by component, number of
 * tokens and the first tokens, to a few groups, of which the most similar takes the message or, if
 * none is similar enough, a new one; its template keeps the tokens that are the same.
 *
 * Differs from the paper in two points: messages of different components (classes, services) or
 * levels (`INFO`, `[WARN]`) are never one group, and a level neither leads through the tree nor counts
 * as a token in common: it says nothing of what the message is about.
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

  /** The group of a message; `undefined` if it needs one more than there may be. */
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

  /** Tokens with digits are variables most likely; they and what finds no room share a child. */
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

/** The group with most tokens in common; of equal ones, that with most wildcards. */
function mostSimilar(
  groups: readonly MessageGroup[],
  tokens: readonly string[],
  { least, level }: { readonly least: number; readonly level: number },
): MessageGroup | undefined {
  let best: MessageGroup | undefined
  let bestSame = -1
  let bestWild = -1
  for (const group of groups) {
    let same = 0
    let wild = 0
    for (let i = 0; i < tokens.length; i++) {
      const token = group.tokens[i]
      if (token === WILDCARD) wild++
      else if (token === tokens[i] && i !== level) same++
    }
    if (same < least) continue
    if (same > bestSame || (same === bestSame && wild > bestWild)) {
      best = group
      bestSame = same
      bestWild = wild
    }
  }
  return best
}

const LEVEL =
  /^(?:[[(<](?:trace|debug|info|notice|warn|warning|error|severe|critical|fatal|TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)[\])>]|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)):?$/
/** How many tokens are searched for a level: it may stand behind a host or a thread. */
const LEVEL_TOKENS = 3

/** Returns the place of the level that a message begins with, or −1. */
function levelIn(tokens: readonly string[]): number {
  return tokens.slice(0, LEVEL_TOKENS).findIndex((token) => LEVEL.test(token))
}
