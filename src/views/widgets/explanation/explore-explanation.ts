import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { tooltipText } from '../../../core/shown-text.ts'
import { counted } from '../../../core/words.ts'
import type { ParameterQuestionName } from '../../../explain/parameters/explained-path.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { explanationData } from './explanation-data.ts'
import { ExplanationPicture } from './explanation-picture.tsx'

/** How an explanation is explored. */
export interface ExplanationExplorerOptions {
  /** Which question stands first. Default the one whose parameters separate better. */
  readonly question?: ParameterQuestionName
  /**
   * About how many characters of data the page may carry, before compression. Of more, the traces'
   * ids go first, then the parameters that differ least; the widget says so. Default 3,000,000.
   */
  readonly characters?: number
  /** What the explanation is called in the line of code. Default `'explanation'`. */
  readonly name?: string
}

const OPTIONS = ['question', 'characters', 'name']
const LEAST = 1000

/**
 * Why requests changed, to explore: the tree of low-level parameters, its paths as sentences, and
 * every parameter by itself. A click or Enter on a split takes its parameter out, together with all
 * that divide the rows alike, and the tree is grown again in the page, by the same code and from the
 * same rows: what it shows is what `explanation.without(…)` gives. What was taken out can be put
 * back. A parameter, opened, shows both groups side by side and every request along it.
 *
 * @param explanation from `explainMutation` or `explainEdge`
 * @param options see {@link ExplanationExplorerOptions}
 * @throws OptionError for a question that was not asked or a value that an option cannot have,
 *   FlowdeltaError for an unknown option
 *
 * Source: Sambasivan 2013, §2.6.6: parameters of no use are taken out and the tree is made anew.
 *
 * @example
 * exploreExplanation(explainMutation(comparison, 0)).title // 'Explanation'
 */
export function exploreExplanation(
  explanation: Explanation,
  options: ExplanationExplorerOptions = {},
): Widget {
  rejectUnknownOptions(options, OPTIONS)
  const { question, characters = 3_000_000, name = 'explanation' } = options
  if (!(characters >= LEAST)) {
    throw new OptionError('characters', characters, `a number of characters, ${LEAST} or more`)
  }
  if (question !== undefined && explanation.question(question) === undefined) {
    const asked = explanation.questions.map((one) => `'${one.question}'`)
    throw new OptionError('question', question, `one that was asked: ${asked.join(' or ')}`)
  }
  const data = explanationData(explanation, {
    ...{ question: question ?? null, name, characters },
  })
  const { subject, paths } = explanation
  return new Widget({
    ...{ view: 'explanation', title: 'Explanation', data },
    description:
      `${tooltipText(subject.title)}: ${counted(paths.length, 'explanation')} by low-level parameters; ` +
      'click a split to take its parameter out, or a parameter to see its values.',
    picture: () => renderSvg(ExplanationPicture({ explanation, question: question ?? null })),
  })
}
