// npm run bench:whatif-evaluation [-- seed… folder]: the evaluation of Ostrowski et al. 2011, §5, on systems of
// seeds 1 to 4 (or those given), with drifts of 3 and 10 %, without and with decoys; in `folder`, figures of the
// first. Fails where it misses a target. About five minutes a line.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { evaluateWhatIf, plotWhatIfEvaluation } from '../evaluation/index.ts'

const FIGURES = ['detected', 'scores', 'distribution'] as const
/** Mean scores, at most: of all k/n by drift; of those directly below the top, at the smaller drift. */
const TARGETS = { all: { 0.03: 0.15, 0.1: 0.22 }, belowTop: 0.1 } as const
const DRIFTS = [0.03, 0.1] as const

const args = process.argv.slice(2)
const given = args.filter((arg) => /^\d+$/.test(arg)).map(Number)
const folder = args.find((arg) => !/^\d+$/.test(arg))
const percent = (share: number) => `${(100 * share).toFixed(1)} %`.padStart(7)
const say = (line: string) => process.stdout.write(`${line}\n`)

let missed = 0
say('mean scores, less is better (all k/n of Figure 3, and those directly below the top)')
say('seed  drift  decoys      all  KS all  KS calls  directly below the top')
for (const seed of given.length > 0 ? given : [1, 2, 3, 4]) {
  for (const drift of DRIFTS) {
    for (const decoys of [false, true]) {
      const evaluation = evaluateWhatIf({ seed, drift, decoys })
      const [all, below] = evaluation.meanTable().objects() as Record<
        'diagnosis' | 'ksOfServices' | 'ksOfCalls',
        number
      >[]
      if (all === undefined || below === undefined) throw new Error('no scores')
      const isGood =
        all.diagnosis < TARGETS.all[drift] &&
        (!decoys || all.diagnosis < Math.min(all.ksOfServices, all.ksOfCalls)) &&
        (drift > 0.03 || below.diagnosis < TARGETS.belowTop)
      if (!isGood) missed++
      const scores = [all.diagnosis, all.ksOfServices, all.ksOfCalls, below.diagnosis].map(percent)
      say(
        `${String(seed).padStart(4)}${percent(drift).replace('.0', '')}  ${decoys ? 'with   ' : 'without'}  ${scores.join('  ')}${isGood ? '' : '  missed'}`,
      )
      if (folder === undefined || seed !== (given[0] ?? 1) || decoys) continue
      for (const figure of FIGURES) {
        const path = join(folder, `whatif-${figure}-drift-${drift * 100}.svg`)
        writeFileSync(path, plotWhatIfEvaluation(evaluation, { figure }).svg())
      }
    }
  }
}
say(
  `targets: all below ${percent(TARGETS.all[0.03])} at 3 %, ${percent(TARGETS.all[0.1])} at 10 %, and below both KS with decoys; directly below the top below ${percent(TARGETS.belowTop)} at 3 %: ${missed === 0 ? 'all met' : `${missed} missed`}`,
)
process.exitCode = missed === 0 ? 0 : 1
