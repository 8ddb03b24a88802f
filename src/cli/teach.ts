import type { Command } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import { listed } from '../compare/findings/names.ts'
import { ruleText } from '../compare/knowledge/apply-knowledge.ts'
import { type Knowledge, type Name, NO_KNOWLEDGE } from '../compare/knowledge/knowledge.ts'
import { proposeNames } from '../compare/knowledge/nameable.ts'
import { FlowdeltaError, OptionError } from '../core/errors.ts'
import { custom, defineOptions, text } from '../core/options.ts'
import { counted } from '../core/words.ts'
import { findQuestions, type TaughtAnswer, teach } from '../explain/explosion/teach.ts'
import { addComparisonFlags, type ComparisonFlags, compareFiles } from './comparison-flags.ts'
import { addOptions, type Flags, type FlagsOf } from './flags.ts'
import { print, printedJson } from './printing.ts'
import { writeReport } from './report.ts'

/** A flag that may be given more than once. */
function several(
  form: RegExp,
  words: { readonly flag: string; readonly sentence: string; readonly expected: string },
) {
  const isOne = (one: unknown) => typeof one === 'string' && form.test(one)
  return custom<readonly string[]>({
    default: [],
    ...words,
    sentence: `${words.sentence}; may be given more than once`,
    accepts: (value) => Array.isArray(value) && value.every(isOne),
    parse: (given) => [given],
  })
}

const PAIR = { form: /^\d+,\d+$/, expected: "two numbers of categories, such as '6,9'" }

const TEACH_FLAGS = defineOptions({
  same: several(PAIR.form, {
    flag: 'same <categories>',
    sentence: 'Two categories that are the same to you',
    expected: PAIR.expected,
  }),
  different: several(PAIR.form, {
    flag: 'different <categories>',
    sentence: 'Two categories that are not',
    expected: PAIR.expected,
  }),
  name: several(/.=./, {
    flag: 'name <id=name>',
    sentence: "Name of a service, a step or a part: 'service:SN=disks'",
    expected: "what is named, and its name: 'service:SN=disks'",
  }),
  note: text({
    default: null,
    or: null,
    sentence: 'What to remember about a finding',
    unit: 'text',
  }),
  about: text({ default: null, or: null, sentence: 'Finding that --note is about', unit: 'id' }),
  by: text({ default: '', sentence: 'Who says so', unit: 'name' }),
  out: text({
    default: null,
    or: null,
    flag: 'out <file>',
    sentence: 'File to write what is known to; it may be that of --knowledge',
  }),
})

type TeachFlags = ComparisonFlags &
  FlagsOf<typeof TEACH_FLAGS> &
  Flags & { readonly knowledge?: Knowledge }

export function addTeach(command: Command, args: readonly string[]): void {
  addOptions(addComparisonFlags(command, args), TEACH_FLAGS).action(runTeach)
}

async function runTeach(files: string[], flags: TeachFlags): Promise<void> {
  const { knowledge = NO_KNOWLEDGE, same, different, name, note, about, out } = flags
  if ((note === undefined) !== (about === undefined)) {
    throw new FlowdeltaError('--note and --about belong together. Give both or neither.')
  }
  const said = [...same, ...different, ...name, ...(note === undefined ? [] : [note])]
  if (said.length > 0 && out === undefined) {
    throw new OptionError('out', out, 'the file to write what is known to')
  }
  const comparison = (await compareFiles({ ...flags, files })).with({ knowledge: null })
  if (out === undefined) {
    print(false, String, () =>
      [
        findQuestions(comparison).text(),
        "What you could name, by --name 'id=name':",
        proposeNames(comparison.with({ knowledge })).text(),
      ].join('\n\n'),
    )
    return
  }
  const answers = [...answersOf(same, true, flags), ...answersOf(different, false, flags)]
  const learned = named(teach(comparison, answers, knowledge), { comparison, flags })
  const taught = noted(learned, { comparison, flags })
  writeReport(out, printedJson(taught))
  const categories = comparison.with({ knowledge: taught }).categories.size
  const kept = listed([
    counted(taught.answers.length, 'answer'),
    counted(taught.names?.length ?? 0, 'name'),
    counted(taught.notes.length, 'note'),
  ])
  print(false, String, () =>
    [
      ruleText(taught),
      `${counted(categories, 'category', 'categories')} by that rule, ${comparison.categories.size} without; ${kept} are in ${out}.`,
    ].join('\n'),
  )
}

function answersOf(given: readonly string[], same: boolean, { by }: TeachFlags): TaughtAnswer[] {
  return given.map((pair) => {
    const [one, other] = pair.split(',').map(Number) as [number, number]
    return { one, other, same, by, at: now() }
  })
}

interface Taught {
  readonly comparison: Comparison
  readonly flags: TeachFlags
}

/** A new name stands in place of an older one of the same thing. */
function named(known: Knowledge, { comparison, flags }: Taught): Knowledge {
  const { things } = proposeNames(comparison)
  const given = flags.name.map((text): Name => {
    const at = text.lastIndexOf('=')
    const [about, name] = [text.slice(0, at), text.slice(at + 1)]
    if (things.some((thing) => thing.about === about)) {
      return { about, name, by: flags.by, at: now() }
    }
    throw new OptionError('name', about, 'an id that flowdelta teach lists without --out')
  })
  const rest = (known.names ?? []).filter((old) => !given.some(({ about }) => about === old.about))
  return given.length === 0 ? known : { ...known, names: [...rest, ...given] }
}

function noted(known: Knowledge, { comparison, flags }: Taught): Knowledge {
  const { note, about, by } = flags
  if (note === undefined || about === undefined) return known
  const { findings } = comparison.with({ knowledge: known }).findings
  const ids = findings.flatMap(({ id, consequences }) => [id, ...consequences.map((one) => one.id)])
  if (!ids.includes(about)) {
    throw new OptionError(
      'about',
      about,
      `the id of a finding: ${ids.join(', ') || 'there is none'}`,
    )
  }
  return { ...known, notes: [...known.notes, { about, text: note, by, at: now() }] }
}

function now(): string {
  return new Date().toISOString()
}
