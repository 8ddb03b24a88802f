import type { Step } from '../step.ts'

export const directoryName = (directory: number) => `d${String(directory).padStart(2, '0')}`

export const pathOf = (directory: number, file: string) => `${directoryName(directory)}/${file}`

/** Makes `count` directories. */
export function* makeDirectories(count: number): Generator<Step, void> {
  for (let i = 0; i < count; i++) yield { kind: 'mkdir', name: directoryName(i) }
}

/** The item there; an error instead of nothing. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`No item ${index} among ${items.length}.`)
  return item
}
