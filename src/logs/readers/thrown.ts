export interface Thrown {
  readonly className: string
  readonly message: string
}

const KINDS = '(?:Exception|Error|Throwable|Failure|Fault)'
const QUALIFIED = new RegExp(
  `(?<![\\w.$])(?:[A-Za-z_$][\\w$]*\\.)+[A-Z][\\w$]*${KINDS}(?![\\w$.])`,
  'g',
)
const MENTION = /Exception|Error|Throwable|Failure|Fault/
const NAME = '(?:[A-Za-z_$][\\w$]*(?:\\.|::))*[A-Za-z_$][\\w$]*'

const BEGINNINGS: readonly RegExp[] = [
  new RegExp(
    `^\\s*(?:Exception in thread "[^"]*" )?(?<class>(?:[A-Za-z_$][\\w$]*\\.)*[A-Z][\\w$]*${KINDS})(?:: (?<text>.*)|:?\\s*$)`,
  ),
  new RegExp(
    `^\\s*(?:Caused by:|Suppressed:|Wrapped by:|Exception in thread "[^"]*"|--->|Unhandled exception\\.) (?<class>${NAME})(?:: (?<text>.*)|:?\\s*$)`,
  ),
  /^(?<class>panic|fatal error): (?<text>.*)$/,
  /^thread '[^']*' (?:\(\d+\) )?(?<class>panicked) at (?:'(?<text>.*)', \S+$|\S+$)/,
  /^\S+:\d+:in [`'][^`']*': (?<text>.*) \((?<class>[A-Z][\w:]*)\)$/,
  /^(?:PHP )?Fatal error: +Uncaught (?<class>[\w\\]+): (?<text>.*?)(?: in \S+:\d+)?$/,
]
/** Candidates for a thrown class if a stack follows: a name at the beginning, or a usual one further on. */
const CANDIDATES: readonly RegExp[] = [
  new RegExp(`^(?:Uncaught |Unhandled )?(?<class>${NAME})(?: \\[\\w+\\])?(?:: (?<text>.*))?$`),
  new RegExp(`(?<![\\w.$])(?<class>${NAME}${KINDS}|Error|Exception)(?: \\[\\w+\\])?: (?<text>.*)$`),
]
const FRAME = /^\s+at \S/
const TRACEBACK = /^[\s|+]*Traceback \(most recent call last\):/
const PYTHON = /^(?<class>(?:\w+\.)*[A-Za-z_]\w*)(?:: (?<text>.*))?$/
const GO_FRAME =
  /^(?:\[signal |created by |exit status|[\w./*()[\]-]+\(.*\)(?: in goroutine \d+)?$)/
const PHRASES =
  /^(?:goroutine \d+ \[|During handling of the above exception|The above exception was the direct cause|\s+\.\.\. \d+ more|--- End of|Stack trace:|#\d+ |note: run with|Node\.js v)/

export class StackFollower {
  #before = ''
  /** Whose stack trace goes on with the next line. */
  open: 'Python' | 'Go' | undefined
  readonly #known = new Set<string>()

  begin(text: string): readonly Thrown[] {
    const mentioned = lastMentioned(text)
    this.#known.clear()
    this.open = undefined
    this.#before = mentioned.length === 0 ? text : ''
    return this.add(...mentioned)
  }

  add(...all: readonly Thrown[]): readonly Thrown[] {
    return all.filter(({ className, message }) => {
      const { size } = this.#known
      return this.#known.add(`${className}: ${message}`).size > size
    })
  }

  /** Follows a line that may not begin a message. */
  follow(line: string): { readonly isStack: boolean; readonly thrown?: readonly Thrown[] } {
    const isIndented = /^\s/.test(line)
    const candidate = (among: readonly RegExp[]) =>
      [firstOf(among, this.#before)].filter((one) => one !== undefined)
    if (TRACEBACK.test(line)) {
      this.open = 'Python'
      return { isStack: true }
    }
    if (FRAME.test(line)) return this.#found(candidate(CANDIDATES).filter(isType))
    if (this.open === 'Python' && !isIndented) {
      this.open = undefined
      const named = firstOf([PYTHON], line)
      if (named !== undefined) return this.#found([named])
    }
    const named = thrownAtStart(line)
    if (named !== undefined) {
      if (/^(?:panic|fatal error)$/.test(named.className)) this.open = 'Go'
      // .NET tells of inner exceptions before the frames of the outer one.
      return this.#found(
        line.includes('--->') ? [...candidate(CANDIDATES.slice(0, 1)), named] : [named],
      )
    }
    const isStack = PHRASES.test(line) || (this.open === 'Go' && GO_FRAME.test(line))
    if (isIndented) return { isStack: isStack || this.open !== undefined }
    this.#before = line
    return { isStack }
  }

  continues(line: string, isWhole: boolean): boolean {
    if (this.open === 'Python' || /^\s/.test(line) || TRACEBACK.test(line) || PHRASES.test(line))
      return true
    if (this.open === 'Go' && GO_FRAME.test(line)) return true
    return isWhole && thrownAtStart(line) !== undefined
  }

  /** Whether the message, or a line behind it, named a type; without one, anything. */
  knows(className?: string): boolean {
    const isOwn = (known: string) => className === undefined || known.startsWith(`${className}: `)
    return [...this.#known].some(isOwn)
  }

  #found(named: readonly Thrown[]) {
    this.#before = ''
    return { isStack: true, thrown: this.add(...named) }
  }
}

export function mayBeThrown(text: string): boolean {
  return MENTION.test(text)
}

function thrownAtStart(line: string): Thrown | undefined {
  const found = firstOf(BEGINNINGS, line)
  return found === undefined ? undefined : (lastMentioned(found.message)[0] ?? found)
}

export function thrownIn(text: string): Thrown {
  const found = thrownAtStart(text) ?? firstOf(CANDIDATES, text)
  return found !== undefined && isType(found) ? found : { className: 'error', message: text.trim() }
}

function firstOf(patterns: readonly RegExp[], line: string): Thrown | undefined {
  for (const pattern of patterns) {
    const groups = pattern.exec(line)?.groups
    if (groups === undefined) continue
    return { className: groups['class'] as string, message: messageOf(groups['text'] ?? '') }
  }
  return undefined
}

function isType({ className }: Thrown): boolean {
  return /[A-Z]/.test(className)
}

/** Returns the exception that a message names; the last of several, `FSError: java.io.IOException: No space left`. */
function lastMentioned(text: string): Thrown[] {
  if (!MENTION.test(text)) return []
  return Array.from(text.matchAll(QUALIFIED), ({ 0: className, index }) => {
    const rest = text.slice(index + className.length)
    return { className, message: rest.startsWith(':') ? messageOf(rest.slice(1)) : '' }
  }).slice(-1)
}

/** Returns the message without the advice after a semicolon; a bracket may have opened before. */
function messageOf(text: string): string {
  const end = text.search(/;(?:\s|$)/)
  const message = (end < 0 ? text : text.slice(0, end)).trim()
  return /[[(]/.test(message) ? message : message.replace(/[\])]+$/, '')
}
