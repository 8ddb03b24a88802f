import { ascending, rollups, sum } from 'd3-array'
import type { LinePlan } from '../line-plans.ts'
import { type LogInput, type LogPaths, logInputs } from '../log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from '../log-read-options.ts'
import { type LogRecord, onlyMessages } from '../log-sink.ts'
import { readLogFile } from '../read-log-file.ts'
import { LogTemplates, Masker, type MiningOptions, templateName } from './log-templates.ts'
import { tokensOf, WILDCARD } from './template-matcher.ts'

/**
 * Mines templates from free text: which kinds of messages there are. Look at them, rename and merge
 * them, and pass them to `loadLogs` as option `templates`. Mine both periods together, so that one kind
 * of message has one name.
 *
 * @param paths files, directories or content in memory
 * @param options of `loadLogs`; see {@link MINING_OPTIONS} for `mining`
 * @throws as `loadLogs`
 *
 * Source: He et al., ICWS 2017 (Drain).
 *
 * @example
 * const templates = await mineLogTemplates({
 *   name: 'node.log',
 *   bytes: '2015-10-17 21:47:48,288 INFO [main] org.example.Peer: connected to 10.0.0.7:50010\n',
 * })
 * templates.templates[0].name // 'Peer: connected to <ip>'
 */
export async function mineLogTemplates(
  paths: LogPaths,
  options: Omit<LogReadOptions, 'templates'> = {},
): Promise<LogTemplates> {
  return mineInputs(await logInputs(paths), readSettings(options))
}

export async function mineInputs(
  inputs: readonly LogInput[],
  settings: ReadSettings,
): Promise<LogTemplates> {
  const miner = new TemplateMiner(settings.mining)
  const sink = onlyMessages(
    (message) => miner.add(message),
    (plan) => miner.replay(plan),
  )
  // Groups depend on what came first, which must not depend on which class is called before.
  const sorted = inputs.toSorted((a, b) => ascending(a.id, b.id))
  for (const { files, isFile } of sorted) {
    for (const file of files) await readLogFile(file, { settings, sink, isRequired: isFile })
  }
  return miner.finish()
}

const MAX_KNOWN = 1 << 16
const SHOWN_CHARACTERS = 200

/** Mines templates from the free text of the messages it is given; passes over all others. */
class TemplateMiner {
  readonly #options: Required<MiningOptions>
  readonly #masker: Masker
  readonly #tree: DrainTree
  /** Groups of texts that came lately: most texts come again and again. */
  readonly #known = new Map<string, { count: number }>()
  readonly #planned = new Map<LinePlan, { count: number }>()

  constructor(options: Required<MiningOptions>) {
    this.#options = options
    this.#masker = new Masker(options.masks)
    this.#tree = new DrainTree(options)
  }

  add({ name, isText, component = '' }: LogRecord): void {
    if (!isText) return
    const { text } = this.#masker.mask(name)
    const key = `${component}\n${text}`
    const known = this.#known.get(key)
    if (known !== undefined) {
      known.count++
      return
    }
    // A slice of a file's text would keep all of it alive.
    const own = ` ${text}`.slice(1)
    const example = ` ${name.slice(0, SHOWN_CHARACTERS)}`.slice(1)
    const group = this.#tree.add(component, tokensOf(own), example)
    if (group === undefined) return
    if (this.#known.size === MAX_KNOWN) this.#known.clear()
    this.#known.set(key, group)
  }

  /** Counts a message of a plan: it has the text of others but for what masks match. */
  replay(plan: LinePlan): void {
    if (!plan.isText) return
    const known = this.#planned.get(plan)
    if (known !== undefined) {
      known.count++
      return
    }
    const name = String(plan.name.text)
    const { component } = plan
    this.add({ line: 0, timeUs: 0, name, isText: true, component })
    const group = this.#known.get(`${component}\n${this.#masker.mask(name).text}`)
    if (group !== undefined) this.#planned.set(plan, group)
  }

  /** The templates, most messages first. Groups that came to the same are one. */
  finish(): LogTemplates {
    const named = this.#tree.groups.map(({ component, tokens, count, example }) => {
      const pattern = { component, text: tokens.join(' ') }
      return { name: templateName(component, pattern.text), patterns: [pattern], count, example }
    })
    const templates = rollups(
      named,
      (alike) => ({ ...(alike[0] as (typeof named)[0]), count: sum(alike, ({ count }) => count) }),
      ({ name }) => name,
    )
      .map(([, template]) => template)
      .sort((a, b) => b.count - a.count || ascending(a.name, b.name))
    return new LogTemplates(
      templates.map((template, i) => ({ id: i + 1, ...template })),
      this.#options.masks,
    )
  }
}

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
    let node = this.#roots.get(key) ?? newNode()
    this.#roots.set(key, node)
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
    const child = children.get(key) ?? newNode()
    children.set(key, child)
    return child
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
