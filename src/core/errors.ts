/** Where in the input something stood: as much of it as is known. */
export interface Place {
  readonly file?: string | undefined
  /** 1-based line of `file`. */
  readonly line?: number | undefined
  readonly trace?: string | undefined
}

/**
 * Something the caller can put right: wrong input or a wrong option. The message says what was
 * found, where it stood, and what to do next.
 */
export class FlowdeltaError extends Error {
  override readonly name: string = 'FlowdeltaError'
}

/** A file or a trace that cannot be read as what it claims to be. */
export class TraceFormatError extends FlowdeltaError {
  override readonly name = 'TraceFormatError'
  readonly place: Place

  constructor(problem: string, place: Place, nextStep: string) {
    super(`${describePlace(place)}${problem}. ${nextStep}`)
    this.place = place
  }
}

/** An option with a value it cannot have. */
export class OptionError extends FlowdeltaError {
  override readonly name = 'OptionError'

  constructor(option: string, value: unknown, expected: string) {
    super(`Option ${option} is ${show(value)}. Give ${expected}.`)
  }
}

/** Throws for the first option that is not among the known ones: most likely misspelt. */
export function rejectUnknownOptions(options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new OptionError('options', options, `an object with any of ${known.join(', ')}`)
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new FlowdeltaError(`There is no option ${name}. Give one of ${known.join(', ')}.`)
    }
  }
}

/** A bug in flowdelta itself, not in what it was given. */
export class InternalError extends Error {
  override readonly name = 'InternalError'

  constructor(broken: string) {
    super(`flowdelta broke a promise of its own: ${broken}. Please report this with the input.`)
  }
}

/** A readable rendering of any value, short enough for a message. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

/** `file:line, trace t: ` with the unknown parts left out. */
export function describePlace({ file, line, trace }: Place): string {
  const where = [
    file === undefined ? undefined : line === undefined ? file : `${file}:${line}`,
    trace === undefined ? undefined : `trace ${trace}`,
  ].filter((part) => part !== undefined)
  return where.length === 0 ? '' : `${where.join(', ')}: `
}
