import { codeText } from '../../../core/code-literals.ts'
import type { FlowData, FlowState } from './flow-data.ts'

/** The state as a line of code to paste into a cell. */
export function flowCode({ subject, kept, usual }: FlowData, state: FlowState): string {
  const says: Partial<Record<keyof FlowState, boolean>> = {
    pin: state.mode === 'side-by-side',
    at: state.mode === 'animation',
  }
  const set = (Object.keys(usual) as (keyof FlowState)[])
    .filter((name) => says[name] ?? true)
    .map((name) => [name, codeText(state[name]), codeText(usual[name])] as const)
    .filter(([, value, usually]) => value !== usually)
    .map(([name, value]) => `${name}: ${value}`)
  const options = [
    ...Object.entries(kept).map(([name, code]) => (name === code ? name : `${name}: ${code}`)),
    ...set,
  ]
  const last = options.length === 0 ? [] : [`{ ${options.join(', ')} }`]
  return `exploreFlows(${[...subject, ...last].join(', ')})`
}
