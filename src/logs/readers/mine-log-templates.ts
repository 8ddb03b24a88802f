import type { LogTemplates } from './drain/log-templates.ts'
import { TemplateMiner } from './drain/template-miner.ts'
import { type LogInput, type LogPaths, logInputs } from './log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from './log-read-options.ts'
import { readLogFile } from './read-log-file.ts'

/**
 * Mines, from the free text of logs, what kinds of messages there are: templates to look at, rename
 * and merge, and to give to `loadLogs` as option `templates`. Mine both classes together: only what
 * has one name can be compared.
 *
 * @param paths files, directories or content in memory
 * @param options as for `loadLogs`; option `mining` says how, `templates` is not asked for
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
  const sink = new TemplateMiner(settings.mining)
  // Groups depend on what came first, which must not depend on which class is called before.
  const sorted = inputs.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
  for (const { files, isFile } of sorted) {
    for (const file of files) await readLogFile(file, { settings, sink, isRequired: isFile })
  }
  return sink.finish()
}
