import type { FlowSet } from '../../../flows/flow-set.ts'
import { joined, type StretchUs } from '../../drawing/stretches.ts'
import { type GanttCall, ganttCalls } from '../gantt/gantt-model.ts'
import type { LaneBy, Message, Traffic, Visit } from './swimlane-model.ts'

/**
 * Visits and messages of a request that was recorded in spans. A component's calls of itself are
 * one visit. A call that does nothing but call another component is the way there and back: the
 * message takes as long as lies between the two.
 */
export function spanTraffic(flows: FlowSet, request: number, by: LaneBy): Traffic {
  const calls = ganttCalls(flows, [request])
  const lanes = calls.map((call) => laneOf(call, by))
  const children = calls.map((): number[] => [])
  calls.forEach(({ parent }, call) => {
    children[parent]?.push(call)
  })
  const isWay = calls.map(({ parent }, call) => {
    const [only, ...others] = children[call] as number[]
    const isOwn = parent >= 0 && lanes[parent] === lanes[call]
    return isOwn && only !== undefined && others.length === 0 && lanes[only] !== lanes[call]
  })
  const visitOf: number[] = []
  const members: number[][] = []
  calls.forEach(({ parent }, call) => {
    const isInside = parent >= 0 && lanes[parent] === lanes[call]
    const visit = isInside ? (visitOf[parent] as number) : members.push([]) - 1
    visitOf.push(visit)
    members[visit]?.push(call)
  })
  const visits = members.map((own): Visit => {
    const working = own.filter((call) => !isWay[call]).map((call) => calls[call] as GanttCall)
    const all = own.map((call) => calls[call] as GanttCall)
    const first = all[0] as GanttCall
    return {
      lane: lanes[own[0] as number] as string,
      name: first.name,
      startUs: first.startUs,
      endUs: Math.max(...all.map(({ endUs }) => endUs)),
      work: joined(working.flatMap(({ work }) => work)),
      critical: joined(working.flatMap(({ critical }) => critical)),
    }
  })
  return { visits, messages: messages({ calls, lanes, visitOf, isWay }) }
}

function laneOf({ service, host }: GanttCall, by: LaneBy): string {
  return by === 'host' && host !== '' ? host : service
}

interface Placed {
  readonly calls: readonly GanttCall[]
  readonly lanes: readonly string[]
  readonly visitOf: readonly number[]
  readonly isWay: readonly boolean[]
}

function messages({ calls, lanes, visitOf, isWay }: Placed): Message[] {
  const isCritical = calls.map(({ critical }) => critical.length > 0)
  for (let call = calls.length - 1; call >= 0; call--) {
    const { parent } = calls[call] as GanttCall
    if (parent >= 0 && isCritical[call]) isCritical[parent] = true
  }
  return calls.flatMap((called, call): Message[] => {
    const { parent, name, startUs, endUs } = called
    if (parent < 0 || lanes[parent] === lanes[call]) return []
    const caller = calls[parent] as GanttCall
    const way: StretchUs = isWay[parent]
      ? [Math.min(caller.startUs, startUs), Math.max(caller.endUs, endUs)]
      : [startUs, endUs]
    const [outside, inside] = [visitOf[parent] as number, visitOf[call] as number]
    const shared = { name, isCritical: isCritical[call] as boolean }
    const asked: Message = {
      ...{ ...shared, kind: 'call', from: outside, to: inside },
      ...{ sentUs: way[0], arrivedUs: startUs },
    }
    // Nobody waits for what ends after its caller.
    if (endUs > caller.endUs) return [asked]
    return [
      asked,
      {
        ...{ ...shared, kind: 'reply', from: inside, to: outside },
        ...{ sentUs: endUs, arrivedUs: way[1] },
      },
    ]
  })
}
