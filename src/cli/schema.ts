import { Argument, type Command } from 'commander'
import { CHECK_DOCUMENT } from './check.ts'
import { COMPARISON_DOCUMENT, FINDING_DOCUMENT } from './comparison-document.ts'
import { EXPLOSION_DOCUMENT } from './explosion.ts'
import { choice } from './flags.ts'
import { LOGS_DOCUMENT } from './logs.ts'
import { printJson } from './printing.ts'
import { VARIANCE_DOCUMENT } from './variance.ts'
import { WHATIF_DOCUMENT } from './whatif.ts'

export const DOCUMENTS = {
  compare: COMPARISON_DOCUMENT,
  variance: VARIANCE_DOCUMENT,
  explosion: EXPLOSION_DOCUMENT,
  logs: LOGS_DOCUMENT,
  whatif: WHATIF_DOCUMENT,
  /** Schema of `flowdelta check --as json`. */
  check: CHECK_DOCUMENT,
  /** Schema of `flowdelta compare --finding`. */
  finding: FINDING_DOCUMENT,
} as const

export function addSchema(command: Command): void {
  const names = Object.keys(DOCUMENTS)
  const argument = new Argument(
    '<command>',
    "Command, or 'finding' for one finding of compare",
  ).choices(names)
  command
    .addArgument(argument.argParser((text) => choice(names, text)))
    .action((name: keyof typeof DOCUMENTS) => {
      printJson(DOCUMENTS[name].schema)
    })
}
