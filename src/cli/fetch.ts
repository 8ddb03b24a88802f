import { resolve } from 'node:path'
import type { Command } from 'commander'
import { FlowdeltaError, OptionError, visibleText } from '../core/errors.ts'
import { defineOptions, optionalText } from '../core/options.ts'
import { counted, percent } from '../core/words.ts'
import { LOAD_OPTIONS } from '../traces/load-options.ts'
import { loadTraces } from '../traces/load-traces.ts'
import type { LoadProgress } from '../traces/readers/read-in-worker.ts'
import { requireSavable } from '../traces/span-traces.ts'
import { addOptions, type Flags, type FlagsOf, optionsFrom, paths, required } from './flags.ts'
import { LOAD_FLAGS, warnOf } from './load-period.ts'

const FETCH_FLAGS = defineOptions({
  from: paths(
    'from <address...>',
    "Store to read from, as 'jaeger://host:16686', 'tempo://host:3200' or 'clickhouse://host:8123', or files",
  ),
  out: optionalText(
    'File to write: traces.jsonl.gz (OTLP JSON lines), traces.jsonl or traces.parquet',
    'out <file>',
  ),
})

export function addFetch(command: Command): void {
  addOptions(command, required(FETCH_FLAGS), LOAD_FLAGS).action(runFetch)
}

async function runFetch({
  from = [],
  out = '',
  ...flags
}: FlagsOf<typeof FETCH_FLAGS> & Flags): Promise<void> {
  // A wrong option is reported before minutes are spent on the traces.
  requireSavable(out, 'out')
  if (from.some((source) => resolve(source) === resolve(out))) {
    throw new OptionError('out', out, 'a file other than the traces being read')
  }
  const controller = new AbortController()
  const stop = () => controller.abort(new FlowdeltaError('Stopped. Nothing was written.'))
  process.once('SIGINT', stop)
  try {
    const traces = await loadTraces(from, {
      ...optionsFrom(LOAD_OPTIONS, flags),
      signal: controller.signal,
      onProgress: process.stderr.isTTY ? showProgress : null,
    })
    clearProgress()
    warnOf(traces)
    await traces.save(out)
    process.stdout.write(`${visibleText(out)}: ${counted(traces.size, 'trace')}\n`)
  } finally {
    process.removeListener('SIGINT', stop)
    clearProgress()
  }
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
}

function showProgress({ bytesRead, bytesTotal }: LoadProgress): void {
  const share =
    bytesTotal > 0 && bytesTotal < Infinity ? `${percent(bytesRead / bytesTotal)} · ` : ''
  process.stderr.write(`\r\u001b[K${share}${(bytesRead / 1e6).toFixed(1)} MB`)
}
