import { OptionError } from '../../../core/errors.ts'
import { counted, grouped } from '../../../core/words.ts'
import type { LatencyDiagnosis } from '../../../whatif/diagnosis/latency-diagnosis.ts'
import type { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import { defineWidget } from '../define-widget.ts'
import { restoreRequests } from './request-sample.ts'
import { type WhatIfData, whatIfData } from './what-if-data.ts'
import { predictedProfile, readChanges, WHAT_IF_WIDGET_OPTIONS } from './what-if-options.ts'
import { WHAT_IF_STYLE, WhatIfView } from './what-if-view.tsx'

/**
 * A slider for every service: dragging recomputes requests in the page by the code of
 * `applyScenario`, on a sample that fits 200 kB; the code below predicts all. Source: Ostrowski,
 * Mann and Sandler 2011, §3.3 and §4.
 */
export const whatIfWidget = defineWidget({
  name: 'what-if',
  title: 'What if?',
  description: ({ sample, target }: WhatIfData) => {
    const all = counted(sample.ofRequests, 'request')
    const size =
      sample.requests === sample.ofRequests ? all : `${grouped(sample.requests)} of ${all}`
    return `Drag a service’s speed, and the response times of ${size} follow${target === null ? '' : `, beside those of ${target.title}`}.`
  },
  options: WHAT_IF_WIDGET_OPTIONS,
  data: (subject: LatencyDiagnosis | ExecutionModels, { changes, cause, ...sampled }) => {
    const carried = whatIfData(subject, sampled)
    const causes = carried.diagnosis?.causes ?? []
    if (cause !== null && !causes.some(({ rank }) => rank === cause)) {
      const expected =
        causes.length === 0 ? 'null: there are no causes' : 'the rank of one of the best causes'
      throw new OptionError('cause', cause, expected)
    }
    // A service that no request of the sample calls has no slider.
    predictedProfile(restoreRequests(carried.sample), readChanges(changes))
    return carried
  },
  view: WhatIfView,
  style: WHAT_IF_STYLE,
})
