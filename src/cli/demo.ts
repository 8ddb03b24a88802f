import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { compare } from '../comparison/comparison.ts'
import { defineOptions, flag, text } from '../core/options.ts'
import { proseWidth } from '../core/text-layout.ts'
import { loadTraces } from '../traces/load-traces.ts'
import { connectCharts } from '../views/notebook/connect-charts.ts'
import { reportHtml } from '../views/report/report.ts'
import { addOptions, type FlagsOf } from './flags.ts'
import { printText, textWidth } from './printing.ts'
import { MADE_BY, writeReport } from './report.ts'

const DEMO_FLAGS = defineOptions({
  out: text({ default: 'flowdelta-demo.html', flag: 'out <file>', sentence: 'HTML file to write' }),
  open: flag({ default: true, sentence: 'Open the page in a browser, from a terminal' }),
})

export function addDemo(command: Command): void {
  addOptions(command, DEMO_FLAGS).action(runDemo)
}

async function runDemo(flags: FlagsOf<typeof DEMO_FLAGS>): Promise<void> {
  const { out = DEMO_FLAGS.out.default, open } = flags
  const { sample } = createRequire(import.meta.url)('flowdelta/sample') as {
    readonly sample: Readonly<Record<'before' | 'after', URL>>
  }
  const [before, after] = await Promise.all([loadTraces(sample.before), loadTraces(sample.after)])
  const comparison = compare(before, after)
  connectCharts()
  writeReport(out, reportHtml(comparison, { madeBy: MADE_BY }))
  const page = resolve(out)
  printText(`A storage service, recorded before and after a change of its code:

${comparison.findings.text(proseWidth(textWidth()))}

Report: ${page}
With your own traces: npx flowdelta report --before good.json --after bad.json --out report.html
`)
  if (open && process.stdout.isTTY && process.env['CI'] === undefined) openPage(page)
}

/** Opens a page in the browser; without one, the printed path has to do. */
function openPage(page: string): void {
  const [program, ...before] =
    process.platform === 'win32'
      ? ['cmd', '/c', 'start', '']
      : [process.platform === 'darwin' ? 'open' : 'xdg-open']
  const opened = spawn(program as string, [...before, page], { stdio: 'ignore', detached: true })
  opened.once('error', () => {})
  opened.unref()
}
