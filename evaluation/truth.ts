/** A span by the service that recorded it and by its name; a list means any of these. */
export interface SpanPredicate {
  readonly service: string | readonly string[]
  readonly operation: string | readonly string[]
}

/** A node of a flow: a span's start (`call`) or its end (`reply`). */
export interface NodePredicate extends SpanPredicate {
  readonly point: 'call' | 'reply'
}

/** After-period requests that the cause touches: all parts that are given must hold. */
export interface AffectedPredicate {
  /** The root span. */
  readonly root?: SpanPredicate
  /** At least one span of the request. */
  readonly span?: SpanPredicate
}

/** What makes one entry of the ranked list a right answer: all parts that are given must hold. */
export interface RelevantPredicate {
  readonly kind?: 'response-time' | 'structural'
  /** The root span of its requests. */
  readonly root?: SpanPredicate
  /** Among the edges named as responsible is one between such nodes; a missing end is any. */
  readonly changedEdge?: {
    readonly from?: NodePredicate
    readonly to?: NodePredicate
    readonly direction: 'slower' | 'faster'
  }
  /** In the mutation, and not in its most likely precursor. */
  readonly addedNode?: NodePredicate
  /** In the most likely precursor, and not in the mutation. */
  readonly removedNode?: NodePredicate
  /** More such spans than the most likely precursor has, and at least so many. */
  readonly moreOf?: SpanPredicate & { readonly atLeast?: number }
  /** Nothing changed: every entry is wrong. */
  readonly none?: true
}

/** What was planted in a recorded case, and how to tell that it was found. */
export interface Truth {
  readonly name: string
  readonly description: string
  readonly kind: 'response-time' | 'structural' | 'none'
  readonly cause: {
    readonly service: string | readonly string[]
    readonly operation: string | readonly string[]
    readonly mechanism: string
    /** The low-level parameter that tells the after side from the before side, where one does. */
    readonly parameter?: {
      readonly parameter: string
      readonly op: '<=' | '>'
      readonly value: number
    }
  } | null
  /** `null` where it is not clear which requests are affected, or none is. */
  readonly affected: AffectedPredicate | null
  readonly relevant: RelevantPredicate
  /** With logs: parts of what a service logged, logs no longer and logs now, after the same statement. */
  readonly logged?: Readonly<Record<'service' | 'after' | 'noLonger' | 'now', string>>
  /** Parts of what the finding must say its requests have in common. */
  readonly segment?: readonly string[]
  /** Requests that hold up others, and what these wait for; `null` where some only seem to. */
  readonly interferes?:
    | (SpanPredicate & { readonly tenant: string; readonly resource: string })
    | null
  /** Values of SM_P_THRESHOLD to evaluate with; 50 where none is given. */
  readonly smPThresholds?: readonly number[]
}

/** Whether a span, or a node, is of a service and an operation that a predicate names. */
export function matchesSpan(
  { service, operation }: { readonly service: string; readonly operation: string },
  predicate: SpanPredicate,
): boolean {
  return (
    [predicate.service].flat().includes(service) && [predicate.operation].flat().includes(operation)
  )
}
