import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { vi } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { DOCUMENTS } from '../../src/cli/schema.ts'
import type { Comparison } from '../../src/comparison/comparison.ts'
import { COMPARISON_OPTIONS } from '../../src/comparison/comparison-options.ts'
import { LOAD_OPTIONS } from '../../src/traces/load-options.ts'
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

/** What a comparison depends on: all else says what is printed of it. */
const COMPARED_BY = [
  ...['before', 'after', 'files', 'beforeParameters', 'afterParameters', 'beforeLogs', 'afterLogs'],
  ...[COMPARISON_OPTIONS, LOAD_OPTIONS].flatMap(Object.keys),
]
const compared = new Map<string, Promise<Comparison>>()

// Runs that print other parts of the same comparison share it.
vi.doMock(import('../../src/cli/comparison-flags.ts'), async (original) => {
  const { compareFiles, ...real } = await original()
  const shared: typeof compareFiles = (flags) => {
    // What divides a recording says so at each run.
    if (flags.split !== undefined) return compareFiles(flags)
    const given = COMPARED_BY.map((name) => flags[name])
    const changed = given.flat(2).map((name) => {
      return typeof name === 'string' ? statSync(name, { throwIfNoEntry: false })?.mtimeMs : null
    })
    const key = JSON.stringify([given, changed])
    const known = compared.get(key) ?? compareFiles(flags)
    compared.set(key, known)
    return known
  }
  return { ...real, compareFiles: shared }
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
