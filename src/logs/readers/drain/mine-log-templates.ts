import { ascending, group, sum } from 'd3-array'
import type { LinePlan } from '../line-plans.ts'
import type { LogRecord } from '../log-draft.ts'
import { type LogInput, type LogPaths, logInputs } from '../log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from '../log-read-options.ts'
import { type LogSink, onlyMessages } from '../log-sink.ts'
import { readLogFile } from '../read-log-file.ts'
import { DrainTree, LogTemplates, masked, templateName, tokensOf } from './log-templates.ts'

/**
 * Mines templates from free text: which kinds of messages there are. Look at them, rename and merge them, and pass them
 * to `loadLogs` as option `templates`. Mine both periods together, so that one kind of message has one name.
 *
 * @param paths files, directories or content in memory
 * @param options of `loadLogs`
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
  const miner = new TemplateMiner()
  const sink: LogSink = {
    ...onlyMessages((message) => miner.add(message)),
    taker: (plan) => miner.taker(plan),
    isTimeless: true,
  }
  // Groups depend on the order of messages, which must not depend on the names of classes.
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
  readonly #tree = new DrainTree()
  /** Groups of texts that came lately: most texts come again and again. */
  readonly #known = new Map<string, { count: number }>()

  add({ name, isText, component }: LogRecord) {
    if (!isText) return undefined
    const { text } = masked(name)
    const key = `${component}\n${text}`
    let group = this.#known.get(key)
    if (group !== undefined) {
      group.count++
      return group
    }
    // A slice of a file's text would keep all of it alive.
    const own = ` ${text}`.slice(1)
    const example = ` ${name.slice(0, SHOWN_CHARACTERS)}`.slice(1)
    group = this.#tree.add(component, tokensOf(own), example)
    if (group === undefined) return undefined
    if (this.#known.size === MAX_KNOWN) this.#known.clear()
    this.#known.set(key, group)
    return group
  }

  /** Returns the function that counts messages of a plan: their texts equal each other but for the matches of masks. */
  taker({ record }: LinePlan): () => void {
    let group: { count: number } | undefined
    return () => {
      if (group === undefined) group = this.add(record)
      else group.count++
    }
  }

  /** Returns the templates, most messages first. Groups that came to the same are one. */
  finish(): LogTemplates {
    const named = this.#tree.groups.map(({ component, tokens, count, example }) => {
      const pattern = { component, text: tokens.join(' ') }
      return { name: templateName(component, pattern.text), patterns: [pattern], count, example }
    })
    const alike = group(named, ({ name }) => name)
    const templates = Array.from(alike.values(), (all) => ({
      ...(all[0] as (typeof named)[0]),
      count: sum(all, ({ count }) => count),
    })).sort((a, b) => b.count - a.count || ascending(a.name, b.name))
    return new LogTemplates(templates.map((template, i) => ({ id: i + 1, ...template })))
  }
}
