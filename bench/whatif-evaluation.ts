// npm run bench:whatif-evaluation [-- seed… folder --resume --workers n]: the evaluation of Ostrowski et al. 2011,
// §5, on systems of seeds 1 to 4 (or those given), with drifts of 3 and 10 %, without and with decoys; in `folder`,
// figures of the first. Fails where it misses a target. A line takes some minutes of one core. Each is saved
// when it is done: `--resume` goes on after those of an interrupted run, and prints them as well.
import { fork } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { evaluateWhatIf, plotWhatIfEvaluation, WhatIfEvaluation } from '../evaluation/index.ts'

interface Line {
  readonly seed: number
  readonly drift: 0.03 | 0.1
  readonly decoys: boolean
}

/** A line and what came of it; of a worker, or saved. */
interface DoneLine extends Pick<WhatIfEvaluation, 'changes' | 'options'> {
  readonly line: Line
  readonly seconds: number
}

const FIGURES = ['detected', 'scores', 'distribution'] as const
/** Mean scores, at most: of all k/n by drift; of those directly below the top, at the smaller drift. */
const TARGETS = { all: { 0.03: 0.15, 0.1: 0.22 }, belowTop: 0.1 } as const
/** Standard errors from which a shift of the mean response time is hardly chance. */
const SEEN = 2
const SAVED = fileURLToPath(new URL('.bench-whatif/lines.jsonl', import.meta.url))

const percent = (share: number) => `${(100 * share).toFixed(1)} %`.padStart(7)
const say = (line: string) => process.stdout.write(`${line}\n`)
const keyOf = ({ seed, drift, decoys }: Line) => `${seed} ${drift} ${decoys}`

if (process.send === undefined) await evaluateAll()
else {
  process.on('message', (line: Line) => {
    const start = performance.now()
    const { changes, options } = evaluateWhatIf(line)
    const seconds = (performance.now() - start) / 1000
    process.send?.({ line, seconds, changes, options } satisfies DoneLine)
  })
}

async function evaluateAll(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      resume: { type: 'boolean', default: false },
      workers: { type: 'string', default: String(availableParallelism()) },
    },
  })
  const given = positionals.filter((arg) => /^\d+$/.test(arg)).map(Number)
  const folder = positionals.find((arg) => !/^\d+$/.test(arg))
  const lines = (given.length > 0 ? given : [1, 2, 3, 4]).flatMap((seed) =>
    ([0.03, 0.1] as const).flatMap((drift) =>
      [false, true].map((decoys) => ({ seed, drift, decoys })),
    ),
  )
  if (!values.resume) rmSync(SAVED, { force: true })
  mkdirSync(join(SAVED, '..'), { recursive: true })
  const done = new Map(savedLines().map((one) => [keyOf(one.line), one]))
  say(
    'Mean scores, less is better, of all k/n of Figure 3, and of those directly below the top; KS among all services and',
  )
  say(
    'among the calls of one caller, + where callers count as the surest call below them, as in the diagnosis. Of 100 causes:',
  )
  say(
    `those that moved the mean response time by ${SEEN} standard errors, and how many of these, and of the others, were detected`,
  )
  say('(in the tree, among the better half of their siblings) and called significant.')
  say(
    'seed  drift  decoys      all   KS all  KS all+  KS calls  KS calls+  below top  moved: det. sign.  others: det. sign.      time',
  )
  let [printed, missed] = [0, 0]
  const printDone = () => {
    for (; printed < lines.length; printed++) {
      const next = done.get(keyOf(lines[printed] as Line))
      if (next === undefined) return
      if (!printLine(next)) missed++
      if (folder !== undefined && printed < 4 && !next.line.decoys) writeFigures(folder, next)
    }
  }
  printDone()
  const left = lines.filter((line) => !done.has(keyOf(line)))
  await runAll(left, Number(values.workers), (one) => {
    appendFileSync(SAVED, `${JSON.stringify(one)}\n`)
    done.set(keyOf(one.line), one)
    printDone()
  })
  say(
    `targets: all below ${percent(TARGETS.all[0.03])} at 3 %, ${percent(TARGETS.all[0.1])} at 10 %, and below all KS with decoys; directly below the top below ${percent(TARGETS.belowTop)} at 3 %: ${missed === 0 ? 'all met' : `${missed} missed`}`,
  )
  process.exitCode = missed === 0 ? 0 : 1
}

function savedLines(): DoneLine[] {
  if (!existsSync(SAVED)) return []
  return readFileSync(SAVED, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text))
}

/** Hands lines to other processes, one at a time each. */
async function runAll(lines: readonly Line[], workers: number, take: (one: DoneLine) => void) {
  const left = [...lines]
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const worker = fork(fileURLToPath(import.meta.url), { serialization: 'advanced' })
      const next = () => {
        const line = left.shift()
        if (line === undefined) worker.disconnect()
        else worker.send(line)
      }
      worker.on('message', (one: DoneLine) => {
        take(one)
        next()
      })
      worker.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`)),
      )
      next()
    })
  await Promise.all(Array.from({ length: Math.min(workers, lines.length) }, run))
}

/** Prints a line of the table; returns whether it meets the targets. */
function printLine({ line, changes, options, seconds }: DoneLine): boolean {
  const { seed, drift, decoys } = line
  const [all, below] = new WhatIfEvaluation(changes, options).meanTable().objects() as Readonly<
    Record<string, number>
  >[]
  if (all === undefined || below === undefined) throw new Error('no scores')
  const score = (row: Readonly<Record<string, number>>, name: string) => row[name] ?? Number.NaN
  const own = score(all, 'diagnosis')
  const baselines = ['ksOfServices', 'ksOfServicesAhead', 'ksOfCalls', 'ksOfCallsAhead'].map(
    (name) => score(all, name),
  )
  const isGood =
    own < TARGETS.all[drift] &&
    (!decoys || own < Math.min(...baselines)) &&
    (drift > 0.03 || score(below, 'diagnosis') < TARGETS.belowTop)
  const moved = changes.filter(({ shiftErrors }) => Math.abs(shiftErrors) > SEEN)
  const others = changes.filter(({ shiftErrors }) => !(Math.abs(shiftErrors) > SEEN))
  const counts = (group: typeof changes) =>
    [
      group.length,
      ...(['detected', 'labelled'] as const).map((what) => group.filter((one) => one[what]).length),
    ]
      .map((count, i) => String(count).padStart(i === 0 ? 5 : 5))
      .join(' ')
  say(
    [
      `${String(seed).padStart(4)}${percent(drift).replace('.0', '')}`,
      decoys ? 'with   ' : 'without',
      ...[own, ...baselines, score(below, 'diagnosis')].map(percent),
      counts(moved),
      counts(others),
      `${seconds.toFixed(0)} s`.padStart(7),
      isGood ? '' : 'missed',
    ].join('  '),
  )
  return isGood
}

function writeFigures(folder: string, { line, changes, options }: DoneLine): void {
  const evaluation = new WhatIfEvaluation(changes, options)
  for (const figure of FIGURES) {
    const path = join(folder, `whatif-${figure}-drift-${line.drift * 100}.svg`)
    writeFileSync(path, plotWhatIfEvaluation(evaluation, { figure }).svg())
  }
}
