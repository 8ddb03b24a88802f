import type { Command } from 'commander'
import { type Knowledge, NO_KNOWLEDGE } from '../compare/knowledge/knowledge.ts'
import { ruleText } from '../comparison/comparison-options.ts'
import { OptionError } from '../core/errors.ts'
import { custom, defineOptions, optionalText, text } from '../core/options.ts'
import { counted } from '../core/words.ts'
import { type TaughtAnswer, teach } from '../explain/explosion/teach.ts'
import { addComparisonFlags, type ComparisonFlags, compareFiles } from './comparison-flags.ts'
import { addOptions, type Flags, type FlagsOf } from './flags.ts'
import { printedJson, printText } from './printing.ts'
import { writeReport } from './report.ts'

function pairs(flag: string, sentence: string) {
  const isPair = (one: unknown) => typeof one === 'string' && /^\d+,\d+$/.test(one)
  return custom<readonly string[]>({
    default: [],
    flag,
    sentence: `${sentence}; may be given more than once`,
    expected: "two numbers of categories, such as '6,9'",
    accepts: (value) => Array.isArray(value) && value.every(isPair),
    parse: (given) => [given],
  })
}

const TEACH_FLAGS = defineOptions({
  same: pairs('same <categories>', 'Two categories that are the same to you'),
  different: pairs('different <categories>', 'Two categories that differ to you'),
  by: text({ default: '', sentence: 'Author of the answers', unit: 'name' }),
  out: optionalText('File to write answers to; may be the --knowledge file', 'out <file>'),
})

type TeachFlags = ComparisonFlags &
  FlagsOf<typeof TEACH_FLAGS> &
  Flags & { readonly knowledge?: Knowledge }

export function addTeach(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), TEACH_FLAGS).action(runTeach)
}

async function runTeach(files: string[], flags: TeachFlags): Promise<void> {
  const { knowledge = NO_KNOWLEDGE, same, different, by, out } = flags
  if (out === undefined) throw new OptionError('out', out, 'the file to write answers to')
  const at = new Date().toISOString()
  const answers = (pairs: readonly string[], isSame: boolean) =>
    pairs.map((pair): TaughtAnswer => {
      const [one, other] = pair.split(',').map(Number) as [number, number]
      return { one, other, same: isSame, by, at }
    })
  const comparison = (await compareFiles({ ...flags, files })).with({ knowledge: null })
  const said = [...answers(same, true), ...answers(different, false)]
  const taught = teach(comparison, said, knowledge)
  writeReport(out, printedJson(taught))
  const { size } = comparison.with({ knowledge: taught }).categories
  printText(
    [
      ruleText(taught),
      `${counted(size, 'category', 'categories')} by that rule, ${comparison.categories.size} without; ${counted(taught.answers.length, 'answer')} in ${out}.`,
    ].join('\n'),
  )
}
