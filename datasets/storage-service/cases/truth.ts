/** A span by the service that recorded it and by its name; a list means any of these. */
export interface SpanPredicate {
  readonly service: string | readonly string[]
  readonly operation: string | readonly string[]
}

/** A node of a request's flow: a span's start (`call`) or its end (`reply`). */
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

/** What makes one entry of the ranked list a right answer. */
export type RelevantPredicate =
  | {
      readonly kind: 'response-time'
      /** Among the edges named as responsible is one between such nodes; a missing end is any. */
      readonly changedEdge: {
        readonly from?: NodePredicate
        readonly to?: NodePredicate
        readonly direction: 'slower' | 'faster'
      }
    }
  | {
      readonly kind: 'structural'
      readonly root: SpanPredicate
      /** In the mutation, and not in its most likely precursor. */
      readonly addedNode: NodePredicate
    }

/** What was planted, and how to tell that it was found. Written before any result was seen. */
export interface Truth {
  readonly kind: 'response-time' | 'structural'
  readonly cause: {
    readonly service: string | readonly string[]
    readonly operation: string
    readonly mechanism: string
    /** The low-level parameter that tells the after side from the before side, where one does. */
    readonly parameter?: {
      readonly parameter: string
      readonly op: '<=' | '>'
      readonly value: number
    }
  }
  readonly affected: AffectedPredicate
  readonly relevant: RelevantPredicate
}
