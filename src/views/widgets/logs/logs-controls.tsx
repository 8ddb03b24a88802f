import { Choice } from '../../drawing/choice.tsx'
import type { LogsData } from './logs-data.ts'
import type { LogsState } from './logs-state.ts'
import { splitText } from './logs-words.ts'

interface Shown {
  readonly data: LogsData
  readonly state: LogsState
  readonly onChange: (changes: Partial<LogsState>) => void
}

const KINDS = { event: 'events', state: 'states' } as const
const CLASSES = { after: 'after', before: 'before' } as const
const STEP = 0.01
const BALANCE_STEP = 0.05

/** What can be set: kind, class, the smallest node that is split, and what scores go by. */
export function LogsControls({ data, state, onChange }: Shown) {
  return (
    <>
      <div class="fd-bar">
        <Choice
          {...{ name: 'graphs of', values: KINDS, value: state.kind }}
          help="Events have times and numbers, states have values"
          onChoose={(kind) => onChange({ kind, featureType: null })}
        />
        <Choice
          {...{ name: 'learned from', values: CLASSES, value: state.class }}
          help="Dependencies within one class of logs"
          onChoose={(each) => onChange({ class: each })}
        />
      </div>
      <div class="fd-bar">
        <Slider
          {...{
            name: 'm',
            words: 'smallest group that is split',
            text: splitText(data, state),
            value: state.minSplit,
          }}
          {...{ least: roundedUp(data.least), most: 1, step: STEP }}
          help="Dependencies must split groups of at least so many instances: larger, fewer and stronger ones"
          onChange={(minSplit) => onChange({ minSplit: Math.max(data.least, minSplit) })}
        />
        <Slider
          {...{
            name: 'α',
            words: 'what scores go by',
            text: balanceText(state.balance),
            value: state.balance,
          }}
          {...{ least: 0, most: 1, step: BALANCE_STEP }}
          help="What scores go by: 0 only how strong dependencies are, 1 only how far variables diverge"
          onChange={(balance) => onChange({ balance })}
        />
      </div>
    </>
  )
}

function Slider({
  name,
  words,
  help,
  text,
  value,
  least,
  most,
  step,
  onChange,
}: {
  readonly name: string
  readonly words: string
  readonly help: string
  readonly text: string
  readonly value: number
  readonly least: number
  readonly most: number
  readonly step: number
  readonly onChange: (value: number) => void
}) {
  return (
    <label title={help} class="fd-logs-slider">
      <span>
        <b>{name}</b> <span class="fd-soft">{words}</span>
      </span>
      <input
        {...{ type: 'range', min: least, max: most, step, value }}
        {...{ 'aria-label': `${name}, ${words}`, 'aria-valuetext': text }}
        onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
      />
      <output>{text}</output>
    </label>
  )
}

function balanceText(balance: number): string {
  const shown = Number(balance.toFixed(2))
  if (shown === 0) return '0, only strength'
  if (shown === 1) return '1, only divergence'
  return `${shown}, strength and divergence`
}

function roundedUp(share: number): number {
  return Math.ceil(share / STEP - 1e-9) * STEP
}
