import { fileURLToPath } from 'node:url'
import { type Comparison, compare } from '../src/comparison/comparison.ts'
import { loadTraces } from '../src/traces/load-traces.ts'

const FOLDER = fileURLToPath(new URL('../datasets/storage-service/', import.meta.url))
const known = new Map<string, Promise<Comparison>>()

/**
 * A recorded case of the storage service, compared with all defaults. It is loaded once for all files
 * of tests that run in one worker, which therefore share its stages.
 */
export function recordedCase(name: string): Promise<Comparison> {
  const comparison = known.get(name) ?? load(`${FOLDER}${name}`)
  known.set(name, comparison)
  return comparison
}

async function load(folder: string): Promise<Comparison> {
  const before = await loadTraces(`${folder}/before.jsonl.gz`)
  return compare(before, await loadTraces(`${folder}/after.jsonl.gz`))
}
