import { codeText } from '../../core/code-literals.ts'

/** An option as it is set, and what it is where nobody sets it. */
export interface OptionValue {
  readonly value: unknown
  readonly usually: unknown
}

/** A call as a line of code, with only those options that are not what they are anyway. */
export function callCode(
  verb: string,
  values: readonly string[],
  options: Readonly<Record<string, OptionValue>>,
): string {
  const given = Object.entries(options)
    .map(([name, { value, usually }]) => [name, codeText(value), codeText(usually)] as const)
    .filter(([, value, usually]) => value !== usually)
    .map(([name, value]) => `${name}: ${value}`)
  const last = given.length === 0 ? [] : [`{ ${given.join(', ')} }`]
  return `${verb}(${[...values, ...last].join(', ')})`
}
