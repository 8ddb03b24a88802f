import { useMemo, useState } from 'preact/hooks'
import { tooltipText } from '../../../core/shown-text.ts'
import { useWidth } from '../../drawing/axis-width.ts'
import { Choice } from '../../drawing/choice.tsx'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { restoreRequests } from './restore-requests.ts'
import { WhatIfCauseList } from './what-if-cause-list.tsx'
import { type WhatIfData, type WhatIfRow, whatIfRows } from './what-if-data.ts'
import { drawingHeight, ProfilesDrawing } from './what-if-drawing.tsx'
import { WhatIfNumbers } from './what-if-numbers.tsx'
import { causeProfile, changedProfile, fixedProfiles } from './what-if-profiles.ts'
import { WhatIfSliders } from './what-if-sliders.tsx'
import { type WhatIfChange, whatIfCode, withChange } from './what-if-state.ts'
import {
  changesText,
  effectText,
  PART_HELP,
  PART_NAMES,
  sampleText,
  UNIT_NAMES,
} from './what-if-words.ts'

/** Lists shorter than this need no search. */
const MANY = 12

/** Drag what services take, and see what becomes of all requests. */
export function WhatIfView({ data }: { readonly data: WhatIfData }) {
  const model = useMemo(() => restoreRequests(data.sample), [data])
  const fixed = useMemo(() => fixedProfiles(data, model), [data, model])
  const [part, setPart] = useState(data.initial.part)
  const [by, setBy] = useState(data.initial.by)
  const [search, setSearch] = useState('')
  const [changes, setChanges] = useState<readonly WhatIfChange[]>(data.initial.changes)
  const [cause, setCause] = useState(data.initial.cause)
  const [place, width] = useWidth<HTMLDivElement>(460)
  const rows = useMemo(() => whatIfRows(data, by), [data, by])
  const changed = useMemo(() => changedProfile(model, changes), [model, changes])
  const overlay = useMemo(() => causeProfile(data, cause), [data, cause])
  const profiles = [...fixed, ...[changed, overlay].filter((each) => each !== null)]
  const height = drawingHeight(profiles.length)
  const code = whatIfCode(data.models, changes)
  const before = fixed[0]?.facts
  return (
    <section aria-label="What if?">
      <div class="fd-bar">
        <Choice
          {...{ name: 'change the', value: part, values: PART_NAMES, onChoose: setPart }}
          help="Which time the sliders change"
        />
        <Choice
          {...{ name: 'of', value: by, values: UNIT_NAMES, onChoose: setBy }}
          help="What has a slider of its own"
        />
        <button type="button" disabled={changes.length === 0} onClick={() => setChanges([])}>
          As it was
        </button>
      </div>
      <p class="fd-soft">{PART_HELP[part]}</p>
      <div class="fd-what-if">
        <div>
          {rows.length < MANY ? null : (
            <input
              {...{ type: 'search', value: search, placeholder: 'search' }}
              aria-label={`Only ${UNIT_NAMES[by]} with`}
              onInput={({ currentTarget }) => setSearch(currentTarget.value)}
            />
          )}
          <WhatIfSliders
            {...{ rows: rows.filter((row) => isFound(row, search)), part, changes }}
            onChange={(change) => setChanges((now) => withChange(now, change))}
          />
          <Chips {...{ changes }} onChange={setChanges} />
        </div>
        <div>
          <div ref={place}>
            <svg
              {...{ width, height, viewBox: `0 0 ${width} ${height}`, 'font-size': '11' }}
              role="img"
              aria-label={`Share of requests that took no longer: ${profiles.map(({ name }) => name).join('; ')}`}
            >
              <ProfilesDrawing {...{ profiles, width, ink: PAGE_INK }} />
            </svg>
          </div>
          <p aria-live="polite">
            {changed === null || before === undefined
              ? 'Nothing is changed.'
              : `${changed.name}: ${effectText(before, changed.facts)}.`}
          </p>
          <WhatIfNumbers {...{ profiles }} />
        </div>
      </div>
      <p class="fd-soft">
        {sampleText(data, by)} {code === null ? '' : 'The code gives the prediction for all.'}
      </p>
      {data.diagnosis === null ? null : (
        <WhatIfCauseList {...{ diagnosis: data.diagnosis, chosen: cause, onChoose: setCause }} />
      )}
      <StateCode code={code ?? `exploreWhatIf(${data.name})`} />
      {cause === null ? null : <StateCode code={`${data.name}.profile(${cause})`} />}
    </section>
  )
}

/** What is changed, of all parts; a click takes one back. */
function Chips({
  changes,
  onChange,
}: {
  readonly changes: readonly WhatIfChange[]
  readonly onChange: (changes: readonly WhatIfChange[]) => void
}) {
  return (
    <div class="fd-what-if-chips">
      {changes.map((change, i) => {
        const text = changesText([change], 80)
        return (
          <button
            key={text}
            {...{ type: 'button', title: 'as it was', 'aria-label': `take back: ${text}` }}
            onClick={() => onChange(changes.filter((_, other) => other !== i))}
          >
            {text} ✕
          </button>
        )
      })}
    </div>
  )
}

function isFound({ service, operation }: WhatIfRow, search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return wanted === '' || tooltipText(`${service} ${operation}`).toLowerCase().includes(wanted)
}
