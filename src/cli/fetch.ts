import { resolve } from 'node:path'
import type { Command } from 'commander'
import { FlowdeltaError, OptionError, visibleText } from '../core/errors.ts'
import { defineOptions, optionalText } from '../core/options.ts'
import { counted, percent } from '../core/words.ts'
import { LOAD_OPTIONS } from '../traces/load-options.ts'
import { loadTraces } from '../traces/load-traces.ts'
import type { LoadProgress } from '../traces/readers/open-file.ts'
import { requireSavable } from '../traces/span-traces.ts'
import { addOptions, type Flags, type FlagsOf, optionsFrom, paths, required } from './flags.ts'
import { LOAD_FLAGS, warnOf } from './load-period.ts'
import { clearProgress, showProgress, stoppable } from './progress.ts'

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
  const stopped = new FlowdeltaError('Stopped. Nothing was written.')
  const traces = await stoppable(async (signal) => {
    const loaded = await loadTraces(from, {
      ...optionsFrom(LOAD_OPTIONS, flags),
      signal,
      onProgress: process.stderr.isTTY ? (progress) => showProgress(progressText(progress)) : null,
    })
    clearProgress()
    warnOf(loaded)
    await loaded.save(out)
    return loaded
  }, stopped)
  process.stdout.write(`${visibleText(out)}: ${counted(traces.size, 'trace')}\n`)
}

function progressText({ bytesRead, bytesTotal }: LoadProgress): string {
  const isKnown = bytesTotal > 0 && bytesTotal < Infinity
  const share = isKnown ? `${percent(bytesRead / bytesTotal)} · ` : ''
  return `${share}${(bytesRead / 1e6).toFixed(1)} MB`
}
