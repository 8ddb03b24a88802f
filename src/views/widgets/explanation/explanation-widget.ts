import { OptionError } from '../../../core/errors.ts'
import { defineOptions, number, optionalWord } from '../../../core/options.ts'
import { counted, tooltipText } from '../../../core/words.ts'
import type { Explanation } from '../../../explain/parameters/explanation.ts'
import { defineWidget, STAGE_NAME } from '../define-widget.ts'
import { type ExplanationData, explanationData, restoreExplanation } from './explanation-data.ts'
import { EXPLANATION_STYLE, ExplanationView } from './explanation-view.tsx'

const EXPLANATION_WIDGET_OPTIONS = defineOptions({
  question: optionalWord(
    ['what-differs', 'what-is-slow'],
    'Question that stands first; null for the one whose parameters separate better',
  ),
  characters: number({
    default: 3_000_000,
    min: 1000,
    unit: 'characters',
    sentence:
      'Data that the page may carry, before compression. Of more, trace ids go first, then the parameters that differ least',
  }),
  name: STAGE_NAME,
})

/**
 * Why requests changed: the tree of parameters, its paths as sentences, and each parameter. Taking
 * a parameter out grows the tree again in the page. Source: Sambasivan 2013, §2.6.6.
 */
export const explanationWidget = defineWidget({
  name: 'explanation',
  title: 'Explanation',
  description: (carried: ExplanationData) => {
    const { subject, paths } = restoreExplanation(carried).explanation
    return (
      `${tooltipText(subject.title)}: ${counted(paths.length, 'explanation')} by low-level parameters; ` +
      'click a split to take its parameter out, or a parameter to see its values.'
    )
  },
  options: EXPLANATION_WIDGET_OPTIONS,
  data: (explanation: Explanation, { question, characters }) => {
    if (question !== null && explanation.question(question) === undefined) {
      const asked = explanation.questions.map((one) => `'${one.question}'`)
      throw new OptionError('question', question, `one that was asked: ${asked.join(' or ')}`)
    }
    return explanationData(explanation, characters)
  },
  view: ExplanationView,
  style: EXPLANATION_STYLE,
  hasCharts: true,
})
