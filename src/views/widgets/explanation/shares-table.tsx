import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { percent } from '../../../core/words.ts'
import type { ParameterGroups } from '../../charts/parameter-groups.ts'
import { numberText, type ParameterShares } from '../../charts/parameter-shares.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { SharesDrawing } from './shares-drawing.tsx'

interface ShownShares {
  readonly shares: ParameterShares
  readonly groups: ParameterGroups
  readonly colours: readonly [string, string]
  readonly width: number
}

const BAR = 130
const HEIGHT = 130

/** The distribution of one parameter in both groups: values with their shares, or a histogram. */
export function SharesTable({ shares, groups, colours, width }: ShownShares) {
  const { names } = groups
  if (shares.kind === 'histogram') {
    const room = Math.min(width, 480)
    const [first, last] = [shares.bins[0], shares.bins.at(-1)]
    return (
      <svg
        width={room}
        height={HEIGHT + 18}
        role="img"
        aria-label={`Distribution of ${names[0]} above the line and of ${names[1]} below it`}
        font-size="11"
      >
        <SharesDrawing
          {...{ shares, names, colours, ink: PAGE_INK, width: room, height: HEIGHT }}
        />
        <text x={0} y={HEIGHT + 14} class="fd-soft">
          {shares.isClipped[0] ? '≤ ' : ''}
          {numberText(first?.from ?? 0)}
        </text>
        <text x={room} y={HEIGHT + 14} text-anchor="end" class="fd-soft">
          {shares.isClipped[1] ? '≥ ' : ''}
          {numberText(last?.to ?? 0)}
          {shares.missing.some((share) => share > 0) ? ', missing' : ''}
        </text>
      </svg>
    )
  }
  return (
    <div class="fd-scroll">
      <table class="fd-shares">
        <thead>
          <tr>
            <th scope="col">value</th>
            <th scope="col">
              <span class="fd-unseen">shares as bars</span>
            </th>
            {names.map((name) => (
              <th key={name} scope="col" class="fd-amount">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shares.values.map(({ label, shares: pair, kind }, i) => (
            <tr key={`${i} ${label}`}>
              <td class={kind === 'value' ? '' : 'fd-soft'} title={tooltipText(label)}>
                {shortText(label, 34)}
              </td>
              <td>
                <svg width={BAR} height="16" aria-hidden="true">
                  {pair.map((share, group) => (
                    <rect
                      key={names[group]}
                      y={1 + group * 7}
                      width={share * BAR}
                      height="6"
                      style={`fill:${colours[group]}`}
                    />
                  ))}
                </svg>
              </td>
              {pair.map((share, group) => (
                <td key={names[group]} class="fd-amount">
                  {percent(share)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
