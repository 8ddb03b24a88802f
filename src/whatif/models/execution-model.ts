import { InternalError } from '../../core/errors.ts'
import type { CallPaths } from '../calls/call-paths.ts'
import type { CallOrder } from './call-orders.ts'
import {
  directPredecessors,
  lastOnes,
  type PrecedenceBits,
  precedenceOrder,
} from './precedence-bits.ts'

/** A call that an execution model makes: the `occurrence`-th of its kind, from 0. */
export interface ModelNode {
  readonly service: string
  readonly operation: string
  readonly occurrence: number
}

/** Calls that an execution model makes and nobody waits for. */
export interface UnawaitedCalls {
  readonly service: string
  readonly operation: string
  /** How many such calls there are under all calls that follow the model. */
  readonly calls: number
}

/**
 * One flow of control of an operation: which calls it makes and waits for, and which of them only
 * begin when others are over.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3.
 */
export interface ExecutionModel {
  /** Its place among all models. */
  readonly id: number
  readonly period: 0 | 1
  /** What is called: a name of `CallPaths`. */
  readonly name: number
  readonly service: string
  readonly operation: string
  /** The same number for models of the two periods that are the same flow: alike, of the same calls. */
  readonly flow: number
  readonly nodes: readonly ModelNode[]
  /** Of each node, the nodes it waits for directly. */
  readonly predecessors: readonly (readonly number[])[]
  /** The nodes that the reply waits for directly. */
  readonly returnPredecessors: readonly number[]
  /** What it calls without waiting: detached, or over only after the reply. Most calls first. */
  readonly asynchronous: readonly UnawaitedCalls[]
  /** How many calls follow it … */
  readonly calls: number
  /** … and how many of these break its order somewhere and are recomputed by their own. */
  readonly ownCalls: number
  /** Its share among its period's calls of the operation. */
  readonly probability: number
}

/** Who waits directly for whom, and an order in which every node comes after those it waits for. */
export interface ModelGraph {
  readonly order: Uint32Array
  readonly predecessors: readonly (readonly number[])[]
  readonly returnPredecessors: readonly number[]
}

/** The graph of `n` nodes whose precedence, free of circles, is `bits`. */
export function graphOfBits(bits: PrecedenceBits, n: number): ModelGraph {
  const order = precedenceOrder(bits, n)
  if (order === null)
    throw new InternalError('the calls of a model wait for each other in a circle')
  return {
    order,
    predecessors: directPredecessors(bits, order),
    returnPredecessors: lastOnes(bits, n),
  }
}

/** Names the nodes of an order: equal names are next to each other, by start. */
export function modelNodes(paths: CallPaths, { nodes }: CallOrder): ModelNode[] {
  return nodes.map((name, i) => ({
    service: paths.serviceOf(name),
    operation: paths.operationOf(name),
    occurrence: i - nodes.indexOf(name),
  }))
}
