import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { DOCUMENTS } from '../../src/cli/schema.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

const outcomes = new Map<string, Promise<Outcome>>()

/** Runs the built command line, the same arguments once unless they write a file. */
export function flowdelta(...args: string[]): Promise<Outcome> {
  if (args.includes('--out')) return run(args)
  const key = JSON.stringify(args)
  const outcome = outcomes.get(key) ?? run(args)
  outcomes.set(key, outcome)
  return outcome
}

function run(args: readonly string[]): Promise<Outcome> {
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
