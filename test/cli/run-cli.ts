import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { vi } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { DOCUMENTS } from '../../src/cli/schema.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The flags of a recorded case of the storage service. */
export function periods(name: string): string[] {
  const folder = `${ROOT}datasets/storage-service/${name}`
  return ['--before', `${folder}/before.jsonl.gz`, '--after', `${folder}/after.jsonl.gz`]
}

const made = new Map<string, Promise<string[]>>()

/** The same saved as Parquet, which loads ten times as fast, for what many runs read. */
export const savedPeriods = (name: string) => saved(name, null)

/** The same of its first seconds alone, for what does not depend on how many requests there are. */
export const firstSeconds = (name: string, seconds: number) => saved(name, seconds)

function saved(name: string, seconds: number | null): Promise<string[]> {
  const key = `${name} ${seconds}`
  const flags = made.get(key) ?? save(periods(name), seconds)
  made.set(key, flags)
  return flags
}

async function save(flags: readonly string[], seconds: number | null): Promise<string[]> {
  const folder = temporaryFolder()
  const [, before = '', , after = ''] = flags
  const into = async (from: string, name: string) => {
    const file = join(folder, `${name}.parquet`)
    const traces = await loadTraces(from)
    await (seconds === null ? traces : traces.between('0s', `${seconds}s`)).save(file)
    return file
  }
  return ['--before', await into(before, 'before'), '--after', await into(after, 'after')]
}

/** Flags that say what is printed of a comparison, not what is compared. */
const OF_PRINTING = ['json', 'verbose', 'limit', 'budget', 'finding', 'explain', 'dot', 'failOn']
const compared = new Map<string, Promise<unknown>>()

// Runs that print other parts of the same comparison share it.
vi.doMock(import('../../src/cli/comparison-flags.ts'), async (original) => {
  const real = await original()
  return {
    ...real,
    compareFiles: (flags) => {
      if (flags.split !== undefined) return real.compareFiles(flags)
      const { before, after = [], beforeLogs = [], afterLogs = [] } = flags
      const files = [...before.flat(), ...after, ...beforeLogs, ...afterLogs]
      const states = files.map((name) => statSync(name, { throwIfNoEntry: false })?.mtimeMs)
      const told = Object.entries(flags).filter(([name]) => !OF_PRINTING.includes(name))
      const key = JSON.stringify([Object.fromEntries(told), states])
      const known = compared.get(key) ?? real.compareFiles(flags)
      compared.set(key, known)
      return known as ReturnType<typeof real.compareFiles>
    },
  }
})

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

const outcomes = new Map<string, Promise<Outcome>>()
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs the command line in this process, one run after the other, and the same arguments once a width unless
 * they write a file.
 */
export function flowdelta(...args: string[]): Promise<Outcome> {
  const key = JSON.stringify([process.env['COLUMNS'], ...args])
  const known = outcomes.get(key)
  if (known !== undefined) return known
  const outcome = last.then(() => captured(() => runCommandLine(args)))
  last = outcome.catch(() => undefined)
  if (!args.includes('--out')) outcomes.set(key, outcome)
  return outcome
}

/** What a run prints: nothing else may be written meanwhile. */
async function captured(run: () => Promise<number>): Promise<Outcome> {
  const { stdout, stderr } = process
  const written = { out: '', err: '' }
  const writes = [stdout.write, stderr.write] as const
  const into = (name: keyof typeof written) => (text: string | Uint8Array) => {
    written[name] += String(text)
    return true
  }
  process.exitCode = undefined
  try {
    stdout.write = into('out')
    stderr.write = into('err')
    return { code: await run(), ...written }
  } finally {
    ;[stdout.write, stderr.write] = writes
    process.exitCode = undefined
  }
}

/** Runs the built command line as a process of its own. */
export function flowdeltaProcess(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`${ROOT}dist/cli.js`, ...args],
      { maxBuffer: 1 << 26 },
      (problem, out, err) => {
        resolve({ code: problem === null ? 0 : Number(problem.code), out, err })
      },
    )
  })
}

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })

/** What a document of a command has that its schema does not allow; `null` where it is valid. */
export function schemaErrors(command: keyof typeof DOCUMENTS, document: unknown) {
  const { schema } = DOCUMENTS[command]
  const validate = ajv.getSchema(String(schema['$id'])) ?? ajv.compile(schema)
  validate(document)
  return validate.errors ?? null
}
