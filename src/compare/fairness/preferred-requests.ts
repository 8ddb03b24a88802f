import { formatDuration } from '../../core/words.ts'
import { AFTER } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { slowSample } from '../steps/slow-sample.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Whether slow requests seem to have been kept preferentially in one period (`slowSample`). */
export function slowPreferred({ flows }: ComparedPeriods): ComparisonWarning[] {
  const found = slowSample(recordedFlows(flows))
  if (found === null) return []
  const limit = formatDuration(found.limitUs)
  const [period, other] = found.sampled === AFTER ? ['after', 'before'] : ['before', 'after']
  const [fast, slow] = found.ratios.map((ratio) => Number(ratio.toPrecision(2)))
  const isKept = found.keepsFailing ? 'Slow and failing requests seem' : 'Slow requests seem'
  return warning('sampling-differs', {
    finding:
      `${isKept} to have been kept preferentially ${period}: per type, ${fast} times the requests ` +
      `faster than ${limit} ${other}, but ${slow} times the slower ones.`,
    effect:
      'Requests look slower, and fail more often, than they really do. Fast and slow requests are compared separately; shares of types are not compared.',
    answer:
      `Compare only requests faster than ${limit}, then only slower ones, with \`where\` and ` +
      '`duration`; or record sampling probabilities, so that requests can be weighted.',
  })
}
