import { FlowdeltaError } from '../core/errors.ts'

const NAMES: readonly string[] = [
  ...['before', 'after', 'format', 'instance', 'template', 'fields', 'metric', 'weights', 'alpha'],
  ...['timeZone', 'dateFormat', 'timeUnit', 'minSplit', 'mostVariables', 'balance', 'class'],
]

/** What is said of options in code, said of flags: `option fields.time` is `--fields time=…`. */
export function inFlags(message: string): string {
  return message
    .replace(
      /\b[Oo]ption ([A-Za-z]+)(?:\.([A-Za-z]+))?/g,
      (whole, name: string, field?: string) => {
        if (!NAMES.includes(name)) return whole
        const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
        return field === undefined ? flag : `${flag} ${field}=…`
      },
    )
    .replace(/\bweights: '(\w+)'/g, '--weights $1')
}

/** Runs what may complain of options, and has it complain of flags. */
export async function withFlagWords<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (problem) {
    if (!(problem instanceof FlowdeltaError)) throw problem
    throw new FlowdeltaError(inFlags(problem.message))
  }
}
