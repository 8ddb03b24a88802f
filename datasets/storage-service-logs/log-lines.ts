/** The two classes of instances: what ran as it should, and what did not. */
export const LOG_CLASSES = ['good', 'bad'] as const
export type LogClass = (typeof LOG_CLASSES)[number]

/** One message of an instance's log: an event, or the value of a state variable. */
export interface LogMessage {
  /** Microseconds since the instance's start, a whole number. */
  readonly time: number
  readonly name: string
  /** Absent for an event. */
  readonly value?: number
}

/** All messages of one instance. */
export interface InstanceLog {
  readonly instance: string
  readonly messages: readonly LogMessage[]
}

/** The messages of an instance as JSON lines, in the order of their times. */
export function logLines({ instance, messages }: InstanceLog): string {
  return messages
    .toSorted((a, b) => a.time - b.time)
    .map(({ time, name, value }) => `${JSON.stringify({ time, instance, name, value })}\n`)
    .join('')
}
