/** What one message says, as the reader of a format found it. */
export interface LogRecord {
  /** 1-based. */
  readonly line: number
  /** NaN where none could be read. */
  readonly timeUs: number
  /** `undefined` where the path is the instance. */
  readonly instance?: string | undefined
  readonly name: string
  /** Whether `name` is free text, of which a template is the name. */
  readonly isText: boolean
  /** What wrote the text, if known: goes before the template. */
  readonly component?: string | undefined
  /** Makes it a state message. */
  readonly value?: number | undefined
  /** Further numbers in it: state variables `name.key`. */
  readonly numbers?: readonly (readonly [key: string, value: number])[] | undefined
}

/** Takes what the reader of a format finds in one file. */
export interface LogSink {
  /** Where messages go as numbers, past `record`; absent while templates are mined. */
  readonly lane?: LogLane
  record(record: LogRecord): void
  /** A line that gives no message. */
  skip(reason: string, line: number, text: string): void
  /** The file is in no log format that is known. */
  skipFile(): void
  countLines(count: number): void
}

/** Names are turned into codes once; a message is then numbers only. */
export interface LogLane {
  /** The instance that the path is, −1 where a field says it. */
  readonly pathInstance: number
  instanceCode(id: string): number
  eventCode(name: string): number
  stateCode(name: string): number
  event(instance: number, code: number, timeUs: number): void
  state(instance: number, code: number, timeUs: number, value: number): void
}

/** One open file, and what reads it. */
export interface LogFile {
  readonly name: string
  readonly chunks: AsyncIterable<Uint8Array>
  readonly sink: LogSink
}

/** Why lines give no message; the report counts by these. */
export const SKIPPED = {
  continuation: 'belongs to the message before it (stack trace, further line)',
  beforeFirst: 'stands before the first line with a time',
  noTime: 'has no time that can be read',
  noName: 'has no name',
  noInstance: 'does not say which instance it is of',
  noNumber: 'has a value that is no number',
  noTemplate: 'is text that no template matches',
  notMatched: 'is matched by no regular expression of option template',
  broken: 'is not in the format of its file',
  tooLong: 'is longer than 16 MB',
} as const
