import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { LogClass, LogMessage } from '../../../datasets/storage-service-logs/log-lines.ts'

type RecordedMessage = LogMessage & { readonly instance: string }

/** The messages of each instance of a class, in the order of the file. */
export async function readInstances(
  folder: URL,
  logClass: LogClass,
): Promise<ReadonlyMap<string, readonly RecordedMessage[]>> {
  const text = gunzipSync(await readFile(new URL(`${logClass}.jsonl.gz`, folder))).toString()
  const instances = new Map<string, RecordedMessage[]>()
  for (const line of text.trimEnd().split('\n')) {
    const message = JSON.parse(line) as RecordedMessage
    const known = instances.get(message.instance)
    if (known === undefined) instances.set(message.instance, [message])
    else known.push(message)
  }
  return instances
}

/** What `truth.json` calls a feature, of the messages of one instance. */
export function featureOf(messages: readonly LogMessage[], name: string, feature: string): number {
  const named = messages.filter((message) => message.name === name)
  const times = named.map(({ time }) => time)
  const values = named.map(({ value = Number.NaN }) => value)
  if (feature === 'count') return named.length
  if (feature === 'mean') return mean(values)
  if (feature === 'maximum') return Math.max(...values)
  if (feature === 'medianAbsolute') return times[Math.floor(times.length / 2)] ?? Number.NaN
  if (feature === 'lastAbsolute') return times.at(-1) ?? Number.NaN
  throw new Error(`The tests know no feature ${feature}: add it.`)
}

/** Pearson's coefficient of correlation. */
export function correlation(xs: readonly number[], ys: readonly number[]): number {
  const [xMean, yMean] = [mean(xs), mean(ys)]
  const sum = (of: (x: number, y: number) => number) =>
    mean(xs.map((x, i) => of(x - xMean, (ys[i] ?? Number.NaN) - yMean)))
  return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
