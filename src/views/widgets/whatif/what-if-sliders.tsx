import { tooltipText } from '../../../core/shown-text.ts'
import type { WhatIfRow } from './what-if-data.ts'
import { factorAt, placeOfFactor, SLIDER_REACH } from './what-if-factors.ts'
import { isSameSlider, PARTS, type WhatIfChange, type WhatIfPart } from './what-if-state.ts'
import { halvedText, PART_NAMES } from './what-if-words.ts'

interface Shown {
  readonly rows: readonly WhatIfRow[]
  readonly part: WhatIfPart
  readonly changes: readonly WhatIfChange[]
  readonly onChange: (change: WhatIfChange) => void
}

/** A slider for everything that can be changed. */
export function WhatIfSliders({ rows, part, changes, onChange }: Shown) {
  return (
    <div class="fd-scroll fd-what-if-sliders">
      <table aria-label={`Factors of ${PART_NAMES[part]}`}>
        <thead>
          <tr>
            <th scope="col">{PART_NAMES[part]} of</th>
            <th scope="col" class="fd-name">
              × 0.1 … × 10
            </th>
            <th scope="col" class="fd-amount">
              factor
            </th>
            <th
              scope="col"
              class="fd-amount"
              title="By how much the mean response time would change if this took half as long"
            >
              if halved
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={JSON.stringify([row.service, row.operation])}
              {...{ row, part, onChange }}
              factor={changes.find((each) => isSameSlider(each, { ...row, part }))?.factor ?? 1}
            />
          ))}
        </tbody>
      </table>
      {rows.length === 0 ? <p class="fd-soft">Nothing has such a name.</p> : null}
    </div>
  )
}

function Row({
  row,
  part,
  factor,
  onChange,
}: {
  readonly row: WhatIfRow
  readonly part: WhatIfPart
  readonly factor: number
  readonly onChange: (change: WhatIfChange) => void
}) {
  const { service, operation, halved } = row
  const name = tooltipText(operation === '' ? service : `${service} ${operation}`)
  const set = (next: number) => onChange({ service, operation, part, factor: next })
  return (
    <tr aria-selected={factor !== 1}>
      <td class="fd-what-if-name" title={name}>
        {name === '' ? '(no name)' : name}
      </td>
      <td>
        <input
          type="range"
          aria-label={`${PART_NAMES[part]} of ${name}`}
          aria-valuetext={`× ${factor}`}
          min={-SLIDER_REACH}
          max={SLIDER_REACH}
          step={1}
          value={placeOfFactor(factor)}
          onInput={({ currentTarget }) => set(factorAt(Number(currentTarget.value)))}
          onDblClick={() => set(1)}
        />
      </td>
      <td class="fd-amount">
        <input
          type="number"
          aria-label={`factor of ${PART_NAMES[part]} of ${name}`}
          min={0}
          step="any"
          value={factor}
          onChange={({ currentTarget }) => {
            const typed = currentTarget.valueAsNumber
            if (typed >= 0 && typed < Number.POSITIVE_INFINITY) set(typed)
            // What is no number does not differ from nothing to whoever draws it again.
            else currentTarget.value = String(factor)
          }}
        />
      </td>
      <td class="fd-amount fd-soft">{halvedText(halved[PARTS.indexOf(part)] ?? 0)}</td>
    </tr>
  )
}
