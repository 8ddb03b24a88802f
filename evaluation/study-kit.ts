import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { FlowdeltaError } from '../src/core/errors.ts'
import { findCases, type RecordedCase } from './recorded-cases.ts'

/** Recorded pairs whose cause is known, from plain to hard. */
export const STUDY_CASES = [
  'delay-1ms',
  'rare-operation',
  'mds-prefetch',
  'broken-replica',
  'batch-job',
] as const

/** How a tool did on a pair. */
export interface StudyResult {
  readonly name: string
  /** Rank of the first line that names a service of the cause; `null` where none does. */
  readonly service: number | null
  /** The same of a line that names an operation of the cause, too. */
  readonly operation: number | null
  /** Lines that the tool printed. */
  readonly lines: number
}

/**
 * Runs a tool on each pair and scores the ranked list that it prints, a suspect a line, the likeliest
 * first.
 *
 * @param command a command of the shell; `{before}` and `{after}` in it are the files of a pair
 * @throws FlowdeltaError where the command does not take both files, or fails
 */
export async function scoreTool(command: string, data: string): Promise<StudyResult[]> {
  for (const period of ['{before}', '{after}']) {
    if (!command.includes(period)) {
      throw new FlowdeltaError(
        `--tool '${command}' does not say where ${period} goes. Write it where the tool takes that file.`,
      )
    }
  }
  const cases = await findCases(data, STUDY_CASES)
  const results: StudyResult[] = []
  for (const one of cases.filter(({ recording }) => recording === 1)) {
    results.push(scored(one, await suspectsOf(command, one)))
  }
  return results
}

async function suspectsOf(command: string, { name, before, after }: RecordedCase) {
  const quoted = (file: string) => `'${file.replaceAll("'", `'\\''`)}'`
  const whole = command.replaceAll('{before}', quoted(before)).replaceAll('{after}', quoted(after))
  const run = promisify(execFile)
  try {
    const { stdout } = await run('sh', ['-c', whole], { maxBuffer: 2 ** 26 })
    return stdout.split('\n').filter((line) => line.trim() !== '')
  } catch (problem) {
    const said = (problem as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? ''
    throw new FlowdeltaError(`--tool failed on ${name}: ${said || 'it printed no reason'}`)
  }
}

function scored({ name, truth: { cause } }: RecordedCase, lines: readonly string[]): StudyResult {
  const [services, operations] = [cause?.service ?? [], cause?.operation ?? []].map((own) =>
    [own].flat(),
  ) as [string[], string[]]
  const rankOf = (isRight: (line: string) => boolean) => lines.findIndex(isRight) + 1 || null
  const names = (line: string, some: readonly string[]) =>
    some.some((one) => line.toLowerCase().includes(one.toLowerCase()))
  return {
    name,
    service: rankOf((line) => names(line, services)),
    operation: rankOf((line) => names(line, services) && names(line, operations)),
    lines: lines.length,
  }
}

/** A row for each pair, and how many have the cause in the first line, and in the first three. */
export function studyText(results: readonly StudyResult[]): string {
  const rank = (one: number | null) => String(one ?? '–').padStart(9)
  const within = (most: number) =>
    results.filter(({ service }) => service !== null && service <= most).length
  return [
    `${'pair'.padEnd(18)}  service  operation  lines`,
    ...results.map(
      ({ name, service, operation, lines }) =>
        `${name.padEnd(18)}${rank(service)}  ${rank(operation)}  ${String(lines).padStart(5)}`,
    ),
    `The service of the cause is in the first line of ${within(1)}, and in the first three of ${within(3)} of ${results.length}.`,
    '',
  ].join('\n')
}
