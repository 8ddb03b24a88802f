import type { LogRecord, LogSink } from '../log-sink.ts'
import { DrainTree, tokensOf } from './drain-tree.ts'
import { LogTemplates, templateName } from './log-templates.ts'
import { Masker } from './masks.ts'
import type { MiningOptions } from './mining-options.ts'

const MOST_KNOWN = 1 << 16
const SHOWN_CHARACTERS = 200

/** Mines templates from the free text of the messages it is given; passes over all others. */
export class TemplateMiner implements LogSink {
  readonly #options: Required<MiningOptions>
  readonly #masker: Masker
  readonly #tree: DrainTree
  /** Groups of texts that came lately: most texts come again and again. */
  readonly #known = new Map<string, { count: number }>()

  constructor(options: Required<MiningOptions>) {
    this.#options = options
    this.#masker = new Masker(options.masks)
    this.#tree = new DrainTree(options)
  }

  record({ name, isText, component = '' }: LogRecord): void {
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
    if (this.#known.size === MOST_KNOWN) this.#known.clear()
    this.#known.set(key, group)
  }

  skip(): void {}

  skipFile(): void {}

  countLines(): void {}

  /** The templates, most messages first. Groups that came to the same are one. */
  finish(): LogTemplates {
    const byName = new Map<
      string,
      { name: string; component: string; text: string; count: number; example: string }
    >()
    for (const { component, tokens, count, example } of this.#tree.groups) {
      const text = tokens.join(' ')
      const name = templateName(component, text)
      const known = byName.get(name)
      if (known === undefined) byName.set(name, { name, component, text, count, example })
      else known.count += count
    }
    const sorted = [...byName.values()].sort(
      (a, b) => b.count - a.count || (a.name < b.name ? -1 : 1),
    )
    return new LogTemplates(
      sorted.map(({ name, component, text, count, example }, i) => ({
        ...{ id: i + 1, name, patterns: [{ component, text }], count, example },
      })),
      this.#options.masks,
    )
  }
}
