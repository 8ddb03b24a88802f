/** Readable names for node labels: a function, or labels and their names. */
export type ReadableNames = ((label: string) => string) | Readonly<Record<string, string>>

/** The name of each label; a label that has none is its own. */
export function nameOfLabel(names: ReadableNames | undefined): (label: string) => string {
  if (names === undefined) return (label) => label
  if (typeof names === 'function') return names
  return (label) => (Object.hasOwn(names, label) ? (names[label] as string) : label)
}
