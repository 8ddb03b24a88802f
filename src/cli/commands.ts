import type { Command } from 'commander'

interface LazyCommand {
  readonly description: string
  /** Loads what adds the command's flags and its action; it may look at how the flags are given. */
  readonly load: () => Promise<(command: Command, args: readonly string[]) => void>
}

const compare: LazyCommand = {
  description: 'Find and rank what changed between the traces of two periods',
  load: async () => (await import('./compare.ts')).addCompare,
}
const report: LazyCommand = {
  description: 'Write what changed as one HTML page, or as Markdown for a pull request',
  load: async () => (await import('./report.ts')).addReport,
}
const variance: LazyCommand = {
  description:
    'Rank kinds of request by the variance of their response times, and find its sources',
  load: async () => (await import('./variance.ts')).addVariance,
}
const explosion: LazyCommand = {
  description: 'Tell whether there are too many kinds of request to compare, why, and what helps',
  load: async () => (await import('./explosion.ts')).addExplosion,
}
const logs: LazyCommand = {
  description: 'Compare the logs of what went well with those of what did not',
  load: async () => (await import('./logs.ts')).addLogs,
}
const whatif: LazyCommand = {
  description: 'Find the single change that best explains a change of latency, or predict one',
  load: async () => (await import('./whatif.ts')).addWhatif,
}
const schema: LazyCommand = {
  description: 'Print the JSON schema of the document that a command prints with --json',
  load: async () => (await import('./schema.ts')).addSchema,
}

/** Every command, in the order of `--help`. */
export const COMMANDS = { compare, report, variance, explosion, logs, whatif, schema } as const

export type CommandName = keyof typeof COMMANDS
